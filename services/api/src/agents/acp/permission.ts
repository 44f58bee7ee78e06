/**
 * The rules that turn an ACP permission request into a question and its answer into an outcome. Pure; asking is in
 * `questions.ts`.
 */

import type {
  PermissionOption,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from '@agentclientprotocol/sdk';
import { readable } from '@parley/core/domain/readable';
import { visible } from '@parley/core/domain/visible';
import { maskArguments } from '@parley/shared/domain/approvals/mask';
import type { Scrub } from '../mcp/scrub.ts';
import type { AgentQuestion, AskOutcome } from '../run/question.ts';

// The rules for permission requests of ACP agents. A request becomes a form with one choice.

const FIELD = 'decision';
const SHOWN_LENGTH_MAX = 4_000;
const PARTLY_SHOWN = 'Not everything of this call can be shown. It can only be refused here.';

/**
 * The options that the person may choose from. If the call cannot be shown completely, only refusals are offered. An option is
 * omitted if its id contains a secret, because the id is stored with the question, or if another option has the same id.
 */
export function offeredOptions(
  { toolCall, options }: Pick<RequestPermissionRequest, 'toolCall' | 'options'>,
  scrub: Scrub,
): readonly PermissionOption[] {
  const isWhole = shownParts(toolCall).isWhole;
  return distinct(options).filter(
    ({ optionId, kind }) =>
      scrub.text(optionId) === optionId && (isWhole || kind === 'reject_once' || kind === 'reject_always'),
  );
}

/**
 * A permission request as a question, with the agent's own options. The call is shown in full except for masked secrets;
 * otherwise the text says that it is incomplete.
 */
export function permissionQuestion({
  toolCall,
  options,
}: Pick<RequestPermissionRequest, 'toolCall'> & {
  readonly options: readonly PermissionOption[];
}): Pick<AgentQuestion, 'mode' | 'message' | 'description' | 'requestedSchema'> {
  const description = describeCall(toolCall);
  return {
    mode: 'form',
    message: visible(toolCall.title ?? toolCall.name ?? '') || 'May the agent make this call?',
    ...(description !== undefined && { description }),
    requestedSchema: {
      type: 'object',
      properties: {
        [FIELD]: {
          type: 'string',
          title: 'Decision',
          oneOf: options.map(({ optionId, name }) => ({ const: optionId, title: visible(name) })),
        },
      },
      required: [FIELD],
    },
  };
}

/** The outcome for the agent. Only a choice that the person accepted permits anything. */
export function permissionOutcome(
  options: readonly PermissionOption[],
  { status, content }: Pick<AskOutcome, 'status' | 'content'>,
): RequestPermissionResponse {
  const chosen =
    status === 'accepted' ? options.find(({ optionId }) => optionId === content?.[FIELD]) : undefined;
  return chosen === undefined ? denied(options) : selected(chosen);
}

/** The answer if no person decided: refuses the call once, so that the agent can continue without it. */
export function denied(options: readonly PermissionOption[]): RequestPermissionResponse {
  const refusal = distinct(options).find(({ kind }) => kind === 'reject_once');
  return refusal === undefined ? { outcome: { outcome: 'cancelled' } } : selected(refusal);
}

/** The options with a unique id. If two options shared an id, a refusal could be read as a permission. */
function distinct(options: readonly PermissionOption[]): readonly PermissionOption[] {
  const ids = options.map(({ optionId }) => optionId);
  return options.filter(({ optionId }) => ids.indexOf(optionId) === ids.lastIndexOf(optionId));
}

function selected({ optionId }: PermissionOption): RequestPermissionResponse {
  return { outcome: { outcome: 'selected', optionId } };
}

/** What the person decides about: the call's files, input and texts. */
function describeCall(toolCall: RequestPermissionRequest['toolCall']): string | undefined {
  const { lines, isWhole } = shownParts(toolCall);
  const shown = isWhole ? lines : [PARTLY_SHOWN];
  return shown.length === 0 ? undefined : shown.join('\n');
}

/** The texts of a call, and whether they are complete. Diffs, terminals and media are not shown. */
function shownParts({ locations, rawInput, content }: RequestPermissionRequest['toolCall']) {
  const parts = content ?? [];
  const texts = parts.flatMap((part) =>
    part.type === 'content' && part.content.type === 'text' ? [part.content.text] : [],
  );
  const files = (locations ?? []).map(({ path }) => path).join(', ');
  const { arguments: shown, fault } = maskArguments({ input: rawInput }, {});
  const input = shown.input === undefined ? '' : JSON.stringify(shown.input);
  const lines = [files, input, ...texts].filter((line) => line !== '').map(readable);
  const isShort = lines.join('\n').length <= SHOWN_LENGTH_MAX;
  const isWhole = texts.length === parts.length && fault === undefined && isShort;
  return { lines, isWhole };
}
