import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import { APICallError } from 'ai';
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type ModelStepOptions, modelStep } from '../../../services/api/src/agents/loop/model-step.ts';
import { ModelError } from '../../../services/api/src/agents/run/step.ts';

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
  const { record } = await modelStep(optionsOf({ model }));
  return record;
}

function optionsOf(given: Pick<ModelStepOptions, 'model'> & Partial<ModelStepOptions>): ModelStepOptions {
  return {
    instructions: 'Be brief.',
    messages: [{ role: 'user', content: 'x'.repeat(4_000) }],
    tools: [],
    settings: {},
    block: '0',
    appendEvent: async () => undefined,
    signal: new AbortController().signal,
    ...given,
  };
}

const FINISH = {
  type: 'finish',
  usage: {
    inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 1, text: 1, reasoning: undefined },
  },
  finishReason: { unified: 'stop', raw: undefined },
} as const;

/** A model whose reply is what the test writes to it. */
function writtenModel() {
  const reply = new TransformStream<unknown, unknown>(undefined, { highWaterMark: 100 });
  const writer = reply.writable.getWriter();
  const model = new MockLanguageModelV3({ doStream: async () => ({ stream: reply.readable as never }) });
  return { model, write: (part: object) => void writer.write(part).catch(() => undefined), writer };
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

it('text is appended as it arrives, before the reply is whole', async () => {
  const { model, write, writer } = writtenModel();
  const events: TurnEvent[] = [];
  let appended: (() => void) | undefined;
  const first = new Promise<void>((resolve) => {
    appended = resolve;
  });
  const step = modelStep(
    optionsOf({
      model,
      appendEvent: async (event) => {
        events.push(event);
        appended?.();
      },
    }),
  );
  write({ type: 'text-start', id: 't' });
  write({ type: 'text-delta', id: 't', delta: 'Yes' });
  await first;
  expect(events).toEqual([{ type: 'text-delta', block: '0.0', text: 'Yes' }]);
  for (const part of [{ type: 'text-delta', id: 't', delta: '!' }, { type: 'text-end', id: 't' }, FINISH])
    write(part);
  void writer.close();
  const { record } = await step;
  expect(record.messages).toMatchObject([{ role: 'assistant', content: [{ type: 'text', text: 'Yes!' }] }]);
  expect(events.slice(1)).toEqual([
    { type: 'text-delta', block: '0.0', text: '!' },
    { type: 'text-finished', block: '0.0' },
  ]);
});

it('readers learn while a model thinks: it reasons, or says nothing for five seconds; what it thinks stays with it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { model, write, writer } = writtenModel();
  const events: TurnEvent[] = [];
  const step = modelStep(optionsOf({ model, appendEvent: async (event) => void events.push(event) }));
  const untilAppended = (count: number) => vi.waitUntil(() => events.length === count, { timeout: 30_000 });
  vi.advanceTimersByTime(4_999);
  expect(events).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(events).toEqual([{ type: 'thinking-started', block: '0.thinking-0' }]);
  write({ type: 'reasoning-start', id: 'r' });
  write({ type: 'reasoning-delta', id: 'r', delta: 'The secret plan.' });
  write({ type: 'text-start', id: 't' });
  write({ type: 'text-delta', id: 't', delta: 'Yes' });
  await untilAppended(3);
  vi.advanceTimersByTime(4_999);
  write({ type: 'reasoning-delta', id: 'r', delta: ' More of it.' });
  await untilAppended(4);
  write({ type: 'text-delta', id: 't', delta: '.' });
  write({ type: 'reasoning-delta', id: 'r', delta: ' Done.' });
  write(FINISH);
  void writer.close();
  const { record } = await step;
  vi.advanceTimersByTime(60_000);
  expect(events.map(({ type }) => type)).toEqual([
    ...['thinking-started', 'thinking-finished', 'text-delta'],
    ...['thinking-started', 'thinking-finished', 'text-delta'],
    ...['thinking-started', 'thinking-finished'],
  ]);
  expect(JSON.stringify(events)).not.toContain('secret');
  expect(JSON.stringify(record)).toContain('The secret plan. More of it. Done.');
});

it('texts under the same id are blocks of their own, and calls under the same id stay apart', async () => {
  const { model, write, writer } = writtenModel();
  const events: TurnEvent[] = [];
  const tool = { name: 'look', description: '', inputSchema: { type: 'object' } };
  const step = modelStep(
    optionsOf({
      model,
      tools: [tool as never],
      appendEvent: async (event) => void events.push(event),
    }),
  );
  for (const text of ['a', 'b']) {
    write({ type: 'text-start', id: '0' });
    write({ type: 'text-delta', id: '0', delta: text });
    write({ type: 'text-end', id: '0' });
  }
  for (const at of [1, 2])
    write({ type: 'tool-call', toolCallId: 'same', toolName: 'look', input: `{"at":${at}}` });
  write(FINISH);
  void writer.close();
  const { calls } = await step;
  expect(calls.map(({ input }) => input)).toEqual([{ at: 1 }, { at: 2 }]);
  expect(new Set(calls.map(({ modelCallId }) => modelCallId)).size).toBe(2);
  expect(events.map((event) => ('block' in event ? event.block : ''))).toEqual(['0.0', '0.0', '0.1', '0.1']);
});

it.each<[string, string | undefined]>([
  [
    '{"n":9007199254740991,"e":1e22,"d":0.1,"z":-0,"t":1.50,"w":1000000000000000000,"p":9007199254740992}',
    undefined,
  ],
  ['{"t":1.7976931348623157e308,"s":5e-324,"k":-1.5E+3,"o":0e9,"c":13.404953999999975}', undefined],
  ['{"text":"2512292042121000001 \\"1e400\\" \\\\"}', undefined],
  ['', undefined],
  ['{"n":2512292042121000001}', '2512292042121000001'],
  ['{"n":2512292042121000001e0}', '2512292042121000001e0'],
  ['{"deep":[{"n":-9007199254740993}]}', '-9007199254740993'],
  ['{"n":25122920421210000.01}', '25122920421210000.01'],
  ['{"n":123456789012345.678901}', '123456789012345.678901'],
  ['{"n":1e400}', '1e400'],
  ['{"n":1e-400}', '1e-400'],
  ['["x"]', 'must be a JSON object'],
  ['"str"', 'must be a JSON object'],
  ['5', 'must be a JSON object'],
  ['null', 'must be a JSON object'],
])('a call with the arguments %s is made as it was written, or refused', async (input, fault) => {
  const { model, write, writer } = writtenModel();
  const tool = { name: 'pay', description: '', inputSchema: { type: 'object' } };
  const step = modelStep(optionsOf({ model, tools: [tool as never] }));
  write({ type: 'tool-call', toolCallId: 'c', toolName: 'pay', input });
  write(FINISH);
  void writer.close();
  const [call] = (await step).calls;
  if (fault === undefined) expect(call).not.toHaveProperty('fault');
  else expect(call?.fault).toContain(fault);
});

it('a reply that breaks off is not requested again, whatever its error says', async () => {
  const error = new APICallError({
    message: 'overloaded',
    url: 'https://model.example',
    requestBodyValues: {},
    statusCode: 529,
    isRetryable: true,
  });
  let requests = 0;
  const model = new MockLanguageModelV3({
    doStream: async () => {
      requests += 1;
      const chunks = [
        { type: 'text-start', id: 't' },
        { type: 'text-delta', id: 't', delta: 'Half an ans' },
        { type: 'error', error },
      ];
      return { stream: simulateReadableStream({ chunks }) as never };
    },
  });
  const step = modelStep(optionsOf({ model }));
  await expect(step).rejects.toThrow(ModelError);
  await expect(step).rejects.toThrow('HTTP 529');
  expect(requests).toBe(1);
});

it('an error of the feed is thrown as it is', async () => {
  const { model, write } = writtenModel();
  const fault = new Error('The feed is full.');
  write({ type: 'text-delta', id: 't', delta: 'Yes' });
  await expect(modelStep(optionsOf({ model, appendEvent: () => Promise.reject(fault) }))).rejects.toBe(fault);
});

it('an abort ends a step whose model has stopped to write, with its reason', async () => {
  const { model, write } = writtenModel();
  const stopping = new AbortController();
  onTestFinished(() => stopping.abort());
  const reason = new Error('stopped');
  write({ type: 'text-delta', id: 't', delta: 'Yes' });
  const appendEvent = async () => stopping.abort(reason);
  await expect(modelStep(optionsOf({ model, appendEvent, signal: stopping.signal }))).rejects.toBe(reason);
});
