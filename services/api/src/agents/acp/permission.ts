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

// The rules for permission requests of ACP agents. While Parley has no approvals, they are put as forms with one choice.

const FIELD = 'decision';
const SHOWN_LENGTH_MAX = 4_000;
const PARTLY_SHOWN = 'Not everything of this call can be shown. It can only be refused here.';

/**
 * The options that the person gets. A call that cannot be shown whole can only be refused. An option whose id holds a
 * secret is not offered, because the id is stored with the question, nor is one whose id another option has, too.
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
 * A permission request as a question. The options are the agent's own; the call is shown in full, but for the secrets that an
 * approval masks, or the text says so.
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

/** The outcome for the agent. Only an accepted choice of the person permits anything. */
export function permissionOutcome(
  options: readonly PermissionOption[],
  { status, content }: Pick<AskOutcome, 'status' | 'content'>,
): RequestPermissionResponse {
  const chosen =
    status === 'accepted' ? options.find(({ optionId }) => optionId === content?.[FIELD]) : undefined;
  return chosen === undefined ? denied(options) : selected(chosen);
}

/** The answer without a person: the call is refused once, so that the agent can continue without it. */
export function denied(options: readonly PermissionOption[]): RequestPermissionResponse {
  const refusal = distinct(options).find(({ kind }) => kind === 'reject_once');
  return refusal === undefined ? { outcome: { outcome: 'cancelled' } } : selected(refusal);
}

/** The options that their ids name alone: with another id, a refusal could be read as a permission. */
function distinct(options: readonly PermissionOption[]): readonly PermissionOption[] {
  const ids = options.map(({ optionId }) => optionId);
  return options.filter(({ optionId }) => ids.indexOf(optionId) === ids.lastIndexOf(optionId));
}

function selected({ optionId }: PermissionOption): RequestPermissionResponse {
  return { outcome: { outcome: 'selected', optionId } };
}

/** What the person decides about: the files, the input and the texts of the call. */
function describeCall(toolCall: RequestPermissionRequest['toolCall']): string | undefined {
  const { lines, isWhole } = shownParts(toolCall);
  const shown = isWhole ? lines : [PARTLY_SHOWN];
  return shown.length === 0 ? undefined : shown.join('\n');
}

/** The texts of a call, and whether they are all of it: diffs, terminals and media are not shown. */
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
