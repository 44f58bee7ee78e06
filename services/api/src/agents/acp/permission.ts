import type {
  PermissionOption,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from '@agentclientprotocol/sdk';
import type { AgentQuestion, AskOutcome } from '../tools/question.ts';

// The rules for permission requests of ACP agents. While Parley has no approvals, they are put as forms with one choice.

const FIELD = 'decision';
const INPUT_LENGTH_MAX = 4_000;

/** A permission request as a question. The options are the agent's own; the input of the call is shown in full or not at all. */
export function permissionQuestion({
  toolCall,
  options,
}: RequestPermissionRequest): Pick<AgentQuestion, 'mode' | 'message' | 'description' | 'requestedSchema'> {
  const description = describeCall(toolCall);
  return {
    mode: 'form',
    message: toolCall.title ?? toolCall.name ?? 'May the agent make this call?',
    ...(description !== undefined && { description }),
    requestedSchema: {
      type: 'object',
      properties: {
        [FIELD]: {
          type: 'string',
          title: 'Decision',
          oneOf: options.map(({ optionId, name }) => ({ const: optionId, title: name })),
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
  const refusal = options.find(({ kind }) => kind === 'reject_once');
  return refusal === undefined ? { outcome: { outcome: 'cancelled' } } : selected(refusal);
}

function selected({ optionId }: PermissionOption): RequestPermissionResponse {
  return { outcome: { outcome: 'selected', optionId } };
}

/** What the person decides about: the files and the input of the call. */
function describeCall({ locations, rawInput }: RequestPermissionRequest['toolCall']): string | undefined {
  const files = (locations ?? []).map(({ path }) => path).join(', ');
  const input = rawInput === undefined ? '' : JSON.stringify(rawInput);
  const shown = input.length > INPUT_LENGTH_MAX ? 'The input of the call is too long to be shown.' : input;
  const lines = [files, shown].filter((line) => line !== '');
  return lines.length === 0 ? undefined : lines.join('\n');
}
