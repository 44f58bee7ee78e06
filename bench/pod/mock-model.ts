import { setTimeout as sleep } from 'node:timers/promises';
import { MockLanguageModelV3 } from 'ai/test';

const WORDS = 30;
const CALL = {
  type: 'tool-call',
  toolCallId: 'call_1',
  toolName: 'elicit',
  input: JSON.stringify({ kind: 'text', message: 'Which environment should this release go to?' }),
} as const;
const USAGE = {
  inputTokens: { total: 200, noCache: 200, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 60, text: 60, reasoning: undefined },
};

/** Writes thirty words, `wordMs` apart, asks a question, and writes thirty more once it is answered. */
export function createMockModel(wordMs: number, word: () => string = () => 'release '): MockLanguageModelV3 {
  return new MockLanguageModelV3({
    doStream: async ({ prompt }) => {
      const hasAnswer = prompt.some(({ role }) => role === 'tool');
      const parts = [
        { type: 'stream-start', warnings: [] },
        { type: 'text-start', id: 't' },
        ...Array.from({ length: WORDS }, () => ({ type: 'text-delta', id: 't', delta: '' })),
        { type: 'text-end', id: 't' },
        ...(hasAnswer ? [] : [CALL]),
        {
          type: 'finish',
          usage: USAGE,
          finishReason: { unified: hasAnswer ? 'stop' : 'tool-calls', raw: undefined },
        },
      ];
      return { stream: paced(parts, wordMs, word) };
    },
  });
}

function paced<T extends { readonly type: string }>(parts: readonly T[], wordMs: number, word: () => string) {
  const rest = parts.values();
  return new ReadableStream<never>({
    async pull(controller) {
      const { done, value: part } = rest.next();
      if (done) return controller.close();
      const isWord = part.type === 'text-delta';
      if (isWord && wordMs > 0) await sleep(wordMs);
      controller.enqueue((isWord ? { ...part, delta: word() } : part) as never);
    },
  });
}
