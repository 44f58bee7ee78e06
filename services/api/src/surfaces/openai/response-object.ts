/** Writes a turn as a response object. Streaming it is in `response-format.ts`. */

import type { FinishReason } from '@parley/shared/domain/runs/turn-events';
import { openAiUsage } from '../../turns/completion.ts';
import type { OpenAiEnd } from './format.ts';

const TURN = /^sr_/;
const RESPONSE = /^resp_/;
const MESSAGE = /^msg_/;

/** Why a finished turn is an incomplete response. */
const INCOMPLETE: Readonly<Partial<Record<FinishReason, string>>> = {
  length: 'max_output_tokens',
  'step-limit': 'max_output_tokens',
  'content-filter': 'content_filter',
  stopped: 'stopped',
};

/** The members that describe a response in all its events. */
export interface ResponseHead {
  readonly id: string;
  readonly model: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly conversationId: string;
  readonly previousId: string | undefined;
}

/** The state of a response. */
export type ResponseState =
  | { readonly type: 'running' }
  /** The turn waits for its person, and its reply has ended: the text so far. */
  | { readonly type: 'waiting'; readonly text: string }
  | { readonly type: 'ended'; readonly text: string; readonly end: OpenAiEnd }
  | { readonly type: 'failed'; readonly text: string; readonly code: string; readonly message: string };

/** The id of a turn's response. */
export function responseIdOf(streamRequestId: string): string {
  return streamRequestId.replace(TURN, 'resp_');
}

/** The turn of a response or of a message in it; undefined for other ids. */
export function turnOfResponse(id: string): string | undefined {
  return [RESPONSE, MESSAGE].some((kind) => kind.test(id)) ? id.replace(/^[a-z]+_/, 'sr_') : undefined;
}

/** The id of a response's message. */
export function messageIdOfResponse(id: string): string {
  return id.replace(RESPONSE, 'msg_');
}

/** A response as OpenAI's object. Members for settings have neutral values, because Parley applies none of them. */
export function responseOf(
  { id, model, created, conversationId, previousId }: ResponseHead,
  state: ResponseState,
) {
  const incomplete = incompleteOf(state);
  const status = statusOf(state, incomplete);
  return {
    id,
    object: 'response' as const,
    created_at: created,
    status,
    error: state.type === 'failed' ? { code: state.code, message: state.message } : null,
    incomplete_details: incomplete === undefined ? null : { reason: incomplete },
    instructions: null,
    max_output_tokens: null,
    metadata: {},
    model,
    output:
      state.type === 'running'
        ? []
        : [outputOf(messageIdOfResponse(id), state.text, messageStatusOf(status))],
    parallel_tool_calls: true,
    previous_response_id: previousId ?? null,
    conversation: { id: conversationId },
    store: true,
    temperature: null,
    text: { format: { type: 'text' as const } },
    tool_choice: 'auto' as const,
    tools: [],
    top_p: null,
    truncation: 'disabled' as const,
    usage: state.type === 'ended' ? usageOf(state.end) : null,
  };
}

/** The message of a response. */
export function outputOf(
  id: string,
  text: string | undefined,
  status: 'in_progress' | 'completed' | 'incomplete',
) {
  const content = text === undefined ? [] : [textPart(text)];
  return { id, type: 'message' as const, status, role: 'assistant' as const, content };
}

export function textPart(text: string) {
  return { type: 'output_text' as const, text, annotations: [], logprobs: [] };
}

type ResponseStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed';

/** Why a response is incomplete; undefined if it is complete, running or failed. */
function incompleteOf(state: ResponseState): string | undefined {
  if (state.type === 'waiting') return state.type;
  return state.type === 'ended' ? INCOMPLETE[state.end.reason] : undefined;
}

function statusOf({ type }: ResponseState, incomplete: string | undefined): ResponseStatus {
  if (type === 'running') return 'in_progress';
  if (type === 'failed') return 'failed';
  return incomplete === undefined ? 'completed' : 'incomplete';
}

function messageStatusOf(status: ResponseStatus): 'completed' | 'incomplete' {
  return status === 'completed' ? 'completed' : 'incomplete';
}

function usageOf({ usage }: OpenAiEnd) {
  const used = openAiUsage(usage);
  return used === undefined
    ? null
    : {
        input_tokens: used.prompt_tokens,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: used.completion_tokens,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: used.total_tokens,
      };
}
