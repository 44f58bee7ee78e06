import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import type { WatchItem } from '@parley/shared/elicitations/watch';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { createAiSdkEncoder } from '../../../services/api/src/surfaces/ai-sdk/encoder.ts';
import { encodeTurn } from '../../../services/api/src/turns/encoder.ts';
import { createTurnReader } from '../../../services/api/src/turns/follow.ts';
import { chunksOf, encodeAll, eventsOf, type Reader, replaying } from '../../harness/turns/read.ts';
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
  stepEnd,
  stories,
} from '../../harness/turns/turns.ts';

/** Every key that version 6.0.44 allows on a chunk; it refuses the others, and its reader's stream ends. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  start: ['messageId'],
  'start-step': [],
  'finish-step': [],
  'text-start': ['id'],
  'text-delta': ['id', 'delta'],
  'text-end': ['id'],
  'reasoning-start': ['id'],
  'reasoning-end': ['id'],
  'tool-input-start': ['toolCallId', 'toolName', 'providerExecuted', 'dynamic'],
  'tool-input-available': ['toolCallId', 'toolName', 'input', 'providerExecuted', 'dynamic'],
  'tool-output-available': ['toolCallId', 'output', 'providerExecuted', 'dynamic', 'preliminary'],
  'tool-output-error': ['toolCallId', 'errorText', 'providerExecuted', 'dynamic'],
  error: ['errorText'],
  finish: ['finishReason', 'messageMetadata'],
};
/** How a tool call opens. */
const OF_AGENT = { providerExecuted: true, dynamic: true };
const CALLED = [
  { type: 'tool-input-start', toolCallId: 't1', toolName: 'search', ...OF_AGENT },
  { type: 'tool-input-available', toolCallId: 't1', toolName: 'search', ...OF_AGENT, input: { q: 1 } },
];
const DATA_KEYS = ['id', 'data', 'transient'];

function encoded(items: readonly WatchItem[], reader: Reader = {}) {
  return encodeAll(createAiSdkEncoder(reader.after), items, reader);
}

function types(items: readonly WatchItem[], reader: Reader = {}): unknown[] {
  return chunksOf(encoded(items, reader)).map(({ type }) => type);
}

const call: TurnEvent = { type: 'tool-called', toolCallId: 't1', toolName: 'search', input: { q: 1 } };

describe('each event becomes', () => {
  const cases: [string, (TurnEvent | ReturnType<typeof asked>)[], unknown[]][] = [
    ['the start of a message', [started], [{ type: 'start', messageId: 'msg_1' }]],
    [
      'a tool call and what it has produced so far',
      [started, call, { type: 'tool-partial', toolCallId: 't1', text: 'Half of' }],
      [
        { type: 'start', messageId: 'msg_1' },
        ...CALLED,
        {
          type: 'tool-output-available',
          toolCallId: 't1',
          output: 'Half of',
          preliminary: true,
          ...OF_AGENT,
        },
      ],
    ],
    [
      'the thinking of a model: a part without a text, which ends at the latest with the step',
      [
        started,
        step(0),
        { type: 'thinking-started', block: '0.t' },
        { type: 'thinking-finished', block: '0.t' },
        { type: 'thinking-started', block: '0.u' },
        stepEnd(0),
      ],
      [
        { type: 'start', messageId: 'msg_1' },
        { type: 'start-step' },
        { type: 'reasoning-start', id: '0.t' },
        { type: 'reasoning-end', id: '0.t' },
        { type: 'reasoning-start', id: '0.u' },
        { type: 'reasoning-end', id: '0.u' },
        { type: 'finish-step' },
      ],
    ],
    [
      'an error',
      [started, { type: 'turn-failed', code: 'model_failed', message: 'The model is unavailable.' }],
      [
        { type: 'start', messageId: 'msg_1' },
        {
          type: 'data-turn-failed',
          data: { v: 1, code: 'model_failed', message: 'The model is unavailable.' },
          transient: true,
        },
        { type: 'error', errorText: 'The model is unavailable.' },
        { type: 'finish', finishReason: 'error' },
      ],
    ],
  ];
  test.each(cases)('%s', (_, appended, chunks) => {
    expect(chunksOf(encoded(feed(appended)))).toEqual(chunks);
  });

  test.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['step-limit', 'tool-calls'],
    ['content-filter', 'content-filter'],
    ['stopped', 'other'],
  ] as const)('the end %s: %s', (reason, finishReason) => {
    const chunks = chunksOf(encoded(feed([started, { type: 'turn-finished', reason }])));
    expect(chunks.at(-1)).toEqual({ type: 'finish', finishReason });
  });

  it('a question: one part, sent again on every change, without its answer', () => {
    const items = feed([
      started,
      asked(question('el_1')),
      asked(question('el_1', 'accepted', { action: 'accept' }), 'elicitation-resolved'),
    ]);
    const chunks = chunksOf(encoded(items)).slice(1);
    const { content: _, ...shown } = question('el_1');
    expect(chunks).toEqual([
      {
        type: 'data-elicitation-request',
        id: 'el_1',
        data: { v: 1, ...shown, respondUrl: '/run/api/elicitation-responses' },
      },
      expect.objectContaining({ id: 'el_1', data: expect.objectContaining({ status: 'accepted' }) }),
    ]);
  });

  it('a question older than its turn: sent after the message has begun', () => {
    expect(types(feed([asked(question('el_1')), started]))).toEqual(['start', 'data-elicitation-request']);
  });

  it('an approval of a call that its delegate reports later: the call waits, or is denied, once it is there', () => {
    const toolCallId = 't1.t2';
    const partsOf = (status?: 'denied') => {
      const late = [decided(approval(status, { toolCallId })), { ...call, toolCallId }];
      return chunksOf(encoded(feed([started, call, ...late]))).map(({ type }) => type);
    };
    const before = ['data-approval-request', 'tool-input-start', 'tool-input-available'];
    expect(partsOf().slice(3)).toEqual([...before, 'tool-approval-request', 'finish']);
    expect(partsOf('denied').slice(3)).toEqual([...before, 'tool-output-denied']);
  });

  it('a later deadline of an approval: its card, and not once more that the call waits', () => {
    const moved = { expiresAt: '2026-01-16T09:30:00.000Z' };
    const items = [
      started,
      call,
      { ...call, toolCallId: 't2' },
      decided(approval()),
      decided(approval('pending', moved)),
    ];
    const chunks = chunksOf(encoded(feed(items))).slice(5);
    expect(chunks.map(({ type }) => type)).toEqual([
      'data-approval-request',
      'tool-approval-request',
      'data-approval-request',
    ]);
    expect(chunks.at(-1)).toMatchObject({ data: moved });
  });

  it('a notice that an account is missing', () => {
    const notice = {
      toolCallId: 't1',
      toolId: 'issues',
      toolName: 'search',
      service: 'Tracker',
      message: 'Connect it first.',
    };
    const appended = feed([started, { type: 'tool-auth-required', ...notice, secret: CANARY }]);
    expect(chunksOf(encoded(appended)).at(-1)).toEqual({
      type: 'data-tool-auth-required',
      id: 't1',
      data: { v: 1, ...notice },
    });
  });
});

it('ends once, with [DONE], and is silent from then on', () => {
  const encoder = createAiSdkEncoder();
  const sent = encodeAll(encoder, feed([started, finished]));
  expect(sent.next).toBe('end');
  expect(sent.frames.at(-1)?.text).toBe('[DONE]');
  const late = feed([say('b', 'late'), asked(question('el_1'))]);
  expect(encodeAll(encoder, late)).toEqual({ frames: [], bytes: '', next: 'end' });
});

describe('a restarted step', () => {
  const appended = [
    started,
    step(0),
    say('a', 'void'),
    call,
    restart(0),
    step(0),
    say('b', 'kept'),
    finished,
  ];

  it('cuts off a reader that already has superseded text', () => {
    const sent = encoded(feed(appended));
    expect(sent.next).toBe('cut');
    expect(sent.frames.map(({ text }) => text)).not.toContain('[DONE]');
  });

  it('cuts off no reader that has seen nothing of it but that the model thinks', () => {
    const thinks = { type: 'thinking-started', block: '0.t' } as const;
    const sent = encoded(feed([started, step(0), thinks, restart(0), step(0), thinks, finished]));
    expect(sent.next).toBe('end');
    const types = chunksOf(sent).map(({ type }) => type);
    expect(types.filter((type) => String(type).startsWith('reasoning'))).toEqual([
      'reasoning-start',
      'reasoning-end',
      'reasoning-start',
      'reasoning-end',
    ]);
  });

  it('supersedes the later steps too', () => {
    const items = feed([
      started,
      step(0),
      stepEnd(0),
      step(1),
      say('a', 'void'),
      stepEnd(1),
      step(2),
      say('b', 'void'),
      restart(1),
      step(1),
      say('c', 'kept'),
      restart(1),
      say('d', 'last'),
      finished,
    ]);
    const sent = encoded(items, replaying(items));
    expect(chunksOf(sent).flatMap(({ delta }) => delta ?? [])).toEqual(['last']);
  });
});

it('a later step that was superseded with an earlier one begins again', () => {
  const items = feed([
    started,
    step(0),
    step(1),
    say('a', 'void'),
    restart(0),
    step(0),
    say('b', 'kept'),
    step(1),
    say('c', 'void'),
    restart(1),
    step(1),
    say('d', 'last'),
    finished,
  ]);
  const sent = encoded(items, replaying(items));
  expect(chunksOf(sent).flatMap(({ delta }) => delta ?? [])).toEqual(['kept', 'last']);
  expect(sent.next).toBe('end');
});

describe('a turn during streaming', () => {
  async function* coming(items: readonly WatchItem[]) {
    const read = createTurnReader();
    for (const item of items) yield* read(item);
  }
  async function ended(items: readonly WatchItem[]) {
    const { signal } = new AbortController();
    const frames = encodeTurn(coming(items), createAiSdkEncoder(), { signal, release: () => undefined });
    let count = 0;
    for (;;) {
      const next = await frames.next();
      if (next.done === true) return { count, how: next.value };
      count += 1;
    }
  }

  it('ends with the turn, and ignores later items', async () => {
    expect(await ended(feed([started, finished, say('b', 'late')]))).toEqual({ count: 3, how: 'end' });
  });

  it('is cut off where its reader must reconnect, and where the items run out', async () => {
    expect(await ended(feed([started, say('a', 'void'), restart(0), finished]))).toEqual({
      count: 3,
      how: 'cut',
    });
    expect(await ended(feed([started]))).toEqual({ count: 1, how: 'cut' });
  });
});

describe('a reader that reconnects', () => {
  it('gets exactly the missing part, wherever it was cut off', () => {
    fc.assert(
      fc.property(stories({ restarts: true }), fc.nat(), ({ items }, at) => {
        const replay = replaying(items);
        const whole = encoded(items, replay).frames;
        const cut = at % (whole.length + 1);
        const had = whole.slice(0, cut);
        const last = had.at(-1)?.id;
        if (last === undefined) return;
        const after = { epoch: '17', seq: Number(last.split('-')[1]) };
        const rest = encoded(items, { ...replay, after }).frames;
        // What shares an event with the last frame may come twice; nothing may be missing.
        const first = whole.findIndex(({ text, id }) => text === rest[0]?.text && id === rest[0]?.id);
        const from = rest.length === 0 ? whole.length : first;
        expect(from).toBeLessThanOrEqual(cut);
        expect(whole.slice(from)).toEqual(rest);
        expect(new Set(whole.slice(from, cut).map(({ id }) => id)).size).toBeLessThanOrEqual(1);
      }),
    );
  });

  const appended = [started, step(0), say('a', 'void'), restart(0), step(0), say('b', 'kept'), finished];

  it.each([
    ['out of void events', { epoch: '17', seq: 3 }],
    ['out of another feed', { epoch: '16', seq: 900 }],
  ])('%s starts from the beginning, and is notified', (_, after) => {
    const items = feed(appended);
    const sent = encoded(items, { ...replaying(items), after });
    const [notice, ...rest] = chunksOf(sent);
    expect(notice).toEqual({ type: 'data-stream-reset', data: { v: 1 }, transient: true });
    expect(rest).toEqual(chunksOf(encoded(items, replaying(items))));
    expect(sent.next).toBe('end');
  });

  it('after the end gets only the end', () => {
    expect(encoded(feed(appended.slice(0, 1).concat(finished)), { after: { epoch: '17', seq: 2 } })).toEqual({
      frames: [],
      bytes: '',
      next: 'end',
    });
  });
});

describe('a lost feed', () => {
  it('cuts off a reader that has received part of it', () => {
    const items: WatchItem[] = [...feed([started]), { type: 'reset' }, ...feed([started, finished], '18')];
    expect(encoded(items).next).toBe('cut');
  });

  it('does not affect a reader that has received none of it', () => {
    expect(types([{ type: 'reset' }, ...feed([started, finished], '18')])).toEqual(['start', 'finish']);
  });
});

it('any sequence of events gives known chunks with known keys, an id on every frame, no answer and one end', () => {
  fc.assert(
    fc.property(stories({ restarts: true }), ({ items }) => {
      const sent = encoded(items, replaying(items));
      expect(sent.next).toBe('end');
      expect(sent.bytes).not.toContain(CANARY);
      expect(sent.bytes.isWellFormed()).toBe(true);
      const events = eventsOf(sent.bytes);
      expect(events.map(({ data }) => data)).toEqual(sent.frames.map(({ text }) => text));
      for (const chunk of chunksOf(sent)) {
        const { type, ...rest } = chunk;
        const allowed = String(type).startsWith('data-') ? DATA_KEYS : KEYS[String(type)];
        expect(allowed, String(type)).toEqual(expect.arrayContaining(Object.keys(rest)));
      }
      // The first frames of a message that begins with an older question have no id to fall back on.
      expect(events.filter(({ id }) => id === undefined).length).toBeLessThanOrEqual(1);
      const numbers = events.flatMap(({ id }) => (id === undefined ? [] : [Number(id.split('-')[1])]));
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
      expect(events.filter(({ data }) => data === '[DONE]')).toHaveLength(1);
    }),
  );
});
