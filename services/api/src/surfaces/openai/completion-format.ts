import { DONE } from '../../http/sse.ts';
import { completionId, OPENAI_FINISH, openAiUsage } from '../../turns/completion.ts';
import { jsonLine } from '../../turns/plain.ts';
import type { OpenAiEnd, OpenAiFormat, OpenAiLine } from './format.ts';
import { type ChatCompletionChunk, openAiError } from './shapes.ts';

export interface CompletionOptions {
  /** The model name that the caller requested. */
  readonly model: string;
  /** Seconds since 1970. */
  readonly created: number;
  /** The nonce of the envelopes, which the first chunk announces; undefined if the caller gets none. */
  readonly nonce: string | undefined;
  /** True if the caller asked for a last chunk with the used tokens (`stream_options.include_usage`). */
  readonly usage: boolean;
}

type Choices = ChatCompletionChunk['choices'];
type Delta = Choices[number]['delta'];

const LAST: OpenAiLine = { text: DONE };

/** Writes a reply as chunks of a chat completion. */
export function createCompletionFormat(options: CompletionOptions): OpenAiFormat {
  const { model, created, nonce } = options;
  let id = completionId(String(created));

  function chunkOf(choices: Choices, usage: ChatCompletionChunk['usage'] = null): ChatCompletionChunk {
    const head = { id, object: 'chat.completion.chunk' as const, created, model };
    return { ...head, choices, ...(options.usage && { usage }) };
  }

  function finish({ reason, usage: used }: OpenAiEnd): OpenAiLine[] {
    const usage = options.usage ? openAiUsage(used) : undefined;
    return [
      lineOf(chunkOf([{ index: 0, delta: {}, finish_reason: OPENAI_FINISH[reason] }])),
      ...(usage === undefined ? [] : [lineOf(chunkOf([], usage))]),
      LAST,
    ];
  }

  const deltaOf = (delta: Delta) => chunkOf([{ index: 0, delta, finish_reason: null }]);

  return {
    begin(messageId) {
      id = completionId(messageId ?? String(created));
      const first = deltaOf({ role: 'assistant', content: '' });
      return [lineOf(nonce === undefined ? first : { ...first, parley: { nonce } })];
    },
    content: ({ text }) => [lineOf(deltaOf({ content: text }))],
    finish,
    // This format has no term for waiting.
    wait: () => finish({ reason: 'stop' }),
    fail: (code, message) => [lineOf(openAiError(code, message)), LAST],
  };
}

function lineOf(value: object): OpenAiLine {
  return { text: jsonLine(value) };
}
