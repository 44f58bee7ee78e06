import type { WatchItem } from '@parley/shared/elicitations/watch';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type AgUiRun, createAgUiEncoder } from '../../../services/api/src/surfaces/ag-ui/encoder.ts';
import { decisionOf, responseOf } from '../../../services/api/src/surfaces/ag-ui/questions.ts';
import { CLIENTS, runStock, type StockMessage, textOfAgent } from '../../harness/ag-ui/clients.ts';
import { encodeAll, type Reader, replaying } from '../../harness/turns/read.ts';
import {
  approval,
  asked,
  CANARY,
  decided,
  feed,
  finished,
  question,
  restart,
  say,
  started,
  step,
  stories,
} from '../../harness/turns/turns.ts';

const RUN: AgUiRun = { threadId: 'c1', runId: 'r1', messageId: 'msg_1', base: [], knowsCancelled: true };
const detached = { type: 'turn-detached' } as const;
const call = { type: 'tool-called', toolCallId: 't1', toolName: 'pay', input: { amount: 7 } } as const;

/** What a stock client makes of the bytes for it: it checks the schema and the order of the events itself. */
async function readBy(
  { open, version }: (typeof CLIENTS)[number],
  items: readonly WatchItem[],
  { run = RUN, reader, has = [] }: { run?: AgUiRun; reader?: Reader; has?: readonly StockMessage[] } = {},
) {
  const knowsCancelled = version === '1.0.0';
  const sent = encodeAll(createAgUiEncoder({ ...run, knowsCancelled }), items, reader);
  expect(sent.bytes).not.toContain(CANARY);
  const headers = { 'content-type': 'text/event-stream' };
  const agent = open({ url: 'http://pod', fetch: async () => new Response(sent.bytes, { headers }) });
  agent.messages = [...has];
  const seen = await runStock(agent);
  return { ...seen, next: sent.next, messages: agent.messages, text: textOfAgent(agent) };
}

let warnings: ReturnType<typeof vi.spyOn>;
beforeEach(() => {
  warnings = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
});
// A client warns of what it strips.
afterEach(() => {
  expect(warnings.mock.calls).toEqual([]);
  warnings.mockRestore();
});

describe.each(CLIENTS)('the stock client $version', (client) => {
  it('has the texts, calls and results of every turn, whatever was restarted, and each once', async () => {
    await fc.assert(
      fc.asyncProperty(stories({ restarts: true }), fc.boolean(), async (story, isReplay) => {
        const { items, texts, tools, ending } = story;
        const reader = isReplay ? replaying(items) : {};
        const { messages, text, end, next } = await readBy(client, items, { reader });
        expect([...text].sort().join('')).toBe([...texts.join('')].sort().join(''));
        const calls = messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id));
        expect(calls.sort()).toEqual(tools.map(({ id }) => `msg_1.${id}`).sort());
        const results = messages.flatMap(({ toolCallId = [] }) => toolCallId);
        const answered = tools.filter(({ state }) => state !== 'input-available');
        expect(results.sort()).toEqual(answered.map(({ id }) => `msg_1.${id}`).sort());
        expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
        expect(end?.type).toBe(ending.type === 'turn-failed' ? 'RUN_ERROR' : 'RUN_FINISHED');
        expect(next).toBe('end');
      }),
      { numRuns: 40 },
    );
  });

  it.each([
    'Old',
    // Half a character, which waits for its other half.
    '\ud83d',
  ])('takes back what a restarted step said, and keeps what others have said: %j', async (old) => {
    const has = [{ id: 'u1', role: 'user', content: 'Hi' }];
    const base = [...has, { id: 'msg_1.0.0', role: 'assistant', content: 'of an earlier run' }];
    const items = feed([started, step(0), say('0.0', old), restart(0), step(0), say('0.0', 'New'), finished]);
    const { text, types, messages } = await readBy(client, items, { run: { ...RUN, base }, has });
    expect(text).toBe('New');
    expect(types.filter((type) => type === 'MESSAGES_SNAPSHOT')).toHaveLength(1);
    expect(messages.map(({ id }) => id)).toEqual(['u1', 'msg_1.0.0']);
  });

  it('has all of the text of a turn that failed, also half a character at its end', async () => {
    const failed = { type: 'turn-failed', code: 'model_failed', message: 'Gone.' } as const;
    const { text, code } = await readBy(client, feed([started, step(0), say('0.0', 'So \ud83d'), failed]));
    expect([text, code]).toEqual(['So \ufffd', 'model_failed']);
  });

  it('starts over where the feed was lost', async () => {
    const again = feed([started, step(0), say('0.0', 'Again'), finished], '18');
    const items = [...feed([started, step(0), say('0.0', 'Lost')]), { type: 'reset' } as const, ...again];
    expect((await readBy(client, items)).text).toBe('Again');
  });

  it.each([
    ['a form', [asked(question('q'))], { id: 'q', reason: 'input_required', message: 'Which project?' }],
    [
      'a page',
      [asked(question('q', 'opened', { mode: 'url', url: 'https://page.example' }))],
      { id: 'q', reason: 'parley:open_page', message: 'Which project?\n\nhttps://page.example' },
    ],
    [
      'a call',
      [decided(approval('pending', { inputSchema: { type: 'object' }, remember: 'conversation' }))],
      {
        id: 'ap_1',
        reason: 'tool_call',
        toolCallId: 'msg_1.t1',
        message: 'Helper wants to call pay of bank.',
      },
    ],
  ])('is interrupted where all of the turn waits for %s', async (_what, open, interrupt) => {
    const items = feed([started, step(0), call, ...open, detached]);
    const { interrupts, next } = await readBy(client, items, { run: { ...RUN, messageId: 'msg_1' } });
    expect(interrupts).toMatchObject([{ ...interrupt, expiresAt: '2026-01-01T00:10:00.000Z' }]);
    expect(next).toBe('end');
  });

  it('is not interrupted where nothing is left to answer, and reads the rest once in the run that continues', async () => {
    const before = [started, step(0), say('0.0', 'Well. '), call, asked(question('q')), detached];
    const after = [
      asked(question('q', 'accepted'), 'elicitation-resolved'),
      { type: 'turn-attached' } as const,
      { type: 'tool-returned', toolCallId: 't1', output: { ok: true } } as const,
      step(1),
      say('1.0', 'Done.'),
      finished,
    ];
    const items = feed([...before, ...after]);
    const first = await readBy(client, items);
    expect([first.types.at(-1), first.interrupts.length]).toEqual(['RUN_FINISHED', 1]);
    const reader = {
      after: { epoch: '17', seq: before.length },
      facts: { ...replaying(items).facts, detachment: { until: { epoch: '17', seq: 7 }, isWaiting: false } },
    };
    const run = { ...RUN, runId: 'r2', base: first.messages as AgUiRun['base'], isContinued: true };
    const second = await readBy(client, items, { run, reader, has: first.messages });
    expect(second.types).toEqual([
      'RUN_STARTED',
      'TOOL_CALL_RESULT',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'RUN_FINISHED',
    ]);
    expect(second.text).toBe('Well. Done.');
    const answered = feed([...before.slice(0, -1), after[0] as never, detached, ...after.slice(1)]);
    expect((await readBy(client, answered)).interrupts).toEqual([]);
  });
});

const entry = (payload: unknown) => ({ interruptId: 'x', status: 'resolved' as const, payload });

it.each([null, undefined, 'no', 0, {}, { approved: false }])('%j does not open a page', (payload) => {
  expect(() => responseOf(entry(payload), false)).toThrow('true');
});

it.each([
  { approved: true, editedArgs: {}, remember: true },
  { approved: false, remember: true },
])('%j is no decision', (payload) => {
  expect(() => decisionOf(entry(payload))).toThrow('remember');
});

it.each([
  [
    { approved: true, editedArgs: { a: 1 }, remember: false },
    { decision: 'edit', arguments: { a: 1 } },
  ],
  [
    { approved: true, remember: true },
    { decision: 'approve', remember: true },
  ],
])('%j is a decision', (payload, decision) => {
  expect(decisionOf(entry(payload))).toEqual(decision);
});
