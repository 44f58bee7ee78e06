import type { FinishReason, TurnEvent } from '@parley/shared/domain/runs/turn-events';

/** How a turn ended, in the words of the OpenAI API. A turn that ran out of steps was cut short, like an answer. */
export const OPENAI_FINISH: Readonly<Record<FinishReason, OpenAiFinish>> = {
  stop: 'stop',
  length: 'length',
  'step-limit': 'length',
  'content-filter': 'content_filter',
  stopped: 'stop',
};
export type OpenAiFinish = 'stop' | 'length' | 'content_filter';

export interface OpenAiUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

export interface OpenAiError {
  readonly error: {
    readonly message: string;
    readonly type: 'server_error';
    readonly param: null;
    readonly code: string;
  };
}

/** What a `chat.completion` and its chunks have in common. */
export interface CompletionHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

export interface ChatCompletionChunk extends CompletionHead {
  readonly object: 'chat.completion.chunk';
  readonly choices: readonly {
    readonly index: 0;
    readonly delta: { readonly role?: 'assistant'; readonly content?: string };
    readonly finish_reason: OpenAiFinish | null;
  }[];
  readonly usage?: OpenAiUsage | null;
}

export interface ChatCompletion extends CompletionHead {
  readonly object: 'chat.completion';
  readonly choices: readonly {
    readonly index: 0;
    readonly message: { readonly role: 'assistant'; readonly content: string; readonly refusal: null };
    readonly logprobs: null;
    readonly finish_reason: OpenAiFinish;
  }[];
  readonly usage?: OpenAiUsage;
}

/** The id of a completion: its message's, so that every reader of a turn sees the same. */
export function completionId(messageId: string): string {
  return `chatcmpl-${messageId}`;
}

/** The tokens a turn took, when its models told; a side that was not told counts as none. */
export function openAiUsage(
  usage: Extract<TurnEvent, { type: 'turn-finished' }>['usage'],
): OpenAiUsage | undefined {
  if (usage?.inputTokens === undefined && usage?.outputTokens === undefined) return undefined;
  const { inputTokens = 0, outputTokens = 0 } = usage;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}

/** An error of a turn as OpenAI's clients read it. `message` is fit for people. */
export function openAiError(code: string, message: string): OpenAiError {
  return { error: { message, type: 'server_error', param: null, code } };
}
