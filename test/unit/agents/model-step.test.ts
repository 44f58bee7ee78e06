import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';
import { expect, it } from 'vitest';
import { modelStep } from '../../../services/api/src/agents/loop/model-step.ts';

/** One step of a model that says a word and reports these tokens. */
async function stepOf(input: number | undefined, output: number | undefined) {
  const usage = {
    inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: output, text: output, reasoning: undefined },
  };
  const chunks = [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: 'Yes.' },
    { type: 'text-end', id: 't' },
    { type: 'finish', usage, finishReason: { unified: 'stop', raw: undefined } },
  ] as const;
  const model = new MockLanguageModelV3({
    doStream: async () => ({ stream: simulateReadableStream({ chunks: [...chunks] }) as never }),
  });
  const { record } = await modelStep({
    model,
    instructions: 'Be brief.',
    messages: [{ role: 'user', content: 'x'.repeat(4_000) }],
    tools: [],
    settings: {},
    block: '0',
    appendEvent: async () => undefined,
    signal: new AbortController().signal,
  });
  return record;
}

it('a step of a model that reports no tokens has an estimate by the size of its texts', async () => {
  const record = await stepOf(undefined, undefined);
  expect(record.estimatedTokens).toBeGreaterThan(1_000);
  expect(record.estimatedTokens).toBeLessThan(1_200);
  expect(record).not.toHaveProperty('inputTokens');
});

it('a step with reported tokens has no estimate', async () => {
  const record = await stepOf(7, 3);
  expect(record).toMatchObject({ inputTokens: 7, outputTokens: 3 });
  expect(record).not.toHaveProperty('estimatedTokens');
});
