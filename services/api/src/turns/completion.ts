import type { FinishReason, TurnEvent } from '@parley/shared/domain/runs/turn-events';
import type { WholeTurn } from './whole-turn.ts';

// Two surfaces reply with this shape, and surfaces may not import each other, so it lives here.

/** How a turn ended, in OpenAI's terms. A turn that ran out of steps counts as a truncated answer. */
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

/** The members that a `chat.completion` and its chunks have in common. */
export interface CompletionHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

interface ChatCompletion extends CompletionHead {
  readonly object: 'chat.completion';
  readonly choices: readonly {
    readonly index: 0;
    readonly message: { readonly role: 'assistant'; readonly content: string; readonly refusal: null };
    readonly logprobs: null;
    readonly finish_reason: OpenAiFinish;
  }[];
  readonly usage?: OpenAiUsage;
}

/** The id of a completion. It is the message's id, so that all readers of a turn see the same. */
export function completionId(messageId: string): string {
  return `chatcmpl-${messageId}`;
}

/** The tokens that a turn used, if its models reported them. A count that was not reported is 0. */
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

/** A finished turn as `chat.completion`. `created` is in seconds since 1970. */
export function completionOf(
  { messageId, text: content, reason, usage }: WholeTurn,
  head: { readonly model: string; readonly created: number },
): ChatCompletion {
  const used = openAiUsage(usage);
  return {
    id: completionId(messageId),
    object: 'chat.completion',
    created: head.created,
    model: head.model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, refusal: null },
        logprobs: null,
        finish_reason: OPENAI_FINISH[reason],
      },
    ],
    ...(used !== undefined && { usage: used }),
  };
}

/** The current time in seconds since 1970, for completions. */
export function secondsNow(): number {
  return Math.floor(Date.now() / 1000);
}
