import { parseFeedPosition, parseReaderPosition } from '@parley/core/domain/events';
import type { LiveItem, WatchItem } from '@parley/shared/elicitations/watch';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createChunkAssembler } from '../../../clients/sdk/src/chat/chunk-assembler.ts';
import { createAiSdkEncoder } from '../../../services/api/src/surfaces/ai-sdk/encoder.ts';
import { createTurnReader } from '../../../services/api/src/turns/follow.ts';
import { readReplayFacts } from '../../../services/api/src/turns/replay.ts';
import { sized } from '../../harness/proof-size.ts';
import {
  asked,
  feed,
  finished,
  question,
  restart,
  said,
  say,
  started,
  step,
  stepEnd,
} from '../../harness/turns/turns.ts';

type Appended = Parameters<typeof feed>[0][number];

/** A turn that writes its text as a pod does: it publishes pieces, and appends the whole from time to time. */
function createWriter() {
  const appended: Appended[] = [started, step(0)];
  const published: LiveItem[] = [];
  let texts: string[][] = [['']];
  let number = 0;
  let block = 0;
  let pending = '';
  let sent = 0;
  const items = () => feed(appended);
  const blockId = () => `${number}.${block}`;

  function store(...events: Appended[]): void {
    if (pending !== '') appended.push(say(blockId(), pending));
    appended.push(...events);
    pending = '';
    sent = 0;
  }

  function begin(): void {
    texts[number] = [''];
    block = 0;
  }

  return {
    items,
    published,
    said: () => texts.flatMap((blocks) => blocks.map((each) => each.toWellFormed())).join(''),
    say(text: string) {
      pending += text;
      const blocks = texts[number] ?? [];
      blocks[block] = `${blocks[block] ?? ''}${text}`;
    },
    publish() {
      if (pending.length === sent) return;
      const after = items().findLast(({ type }) => type === 'other') as { id: string };
      published.push({
        type: 'live',
        after: after.id,
        text: { block: blockId(), offset: sent, text: pending.slice(sent) },
      });
      sent = pending.length;
    },
    store: () => store(),
    /** A question is appended by another commit, and text that was published stays pending. */
    ask: (id: string) => void appended.push(asked(question(id))),
    endBlock() {
      store(said(blockId()));
      block += 1;
    },
    endStep() {
      store(stepEnd(number), step(number + 1));
      number += 1;
      begin();
    },
    /** Another pod takes over: what was not appended is lost, and the step begins again. */
    takeOver() {
      pending = '';
      store({ type: 'turn-attached' }, restart(number), step(number));
      texts = texts.slice(0, number);
      begin();
    },
    finish: () => store(stepEnd(number), finished),
  };
}

const STREAM = { tenant: 't', userId: 'ada', streamRequestId: 'sr_1' };

/** A turn that does not wait, as a replay of its feed reads it. */
function replayOf(items: readonly WatchItem[]): Parameters<typeof readReplayFacts>[0] {
  const entries = items.flatMap((item) => {
    const position = item.type === 'reset' ? undefined : parseFeedPosition(item.id);
    if (position === undefined) return [];
    const { elicitationId = '', status = 'pending' } = 'elicitation' in item ? item.elicitation : {};
    const change = { type: 'elicitation-request', elicitationId, revision: 1, status } as const;
    return [{ position, at: 0, event: item.type === 'other' ? item.event : change }];
  });
  return {
    engine: {
      async *replay() {
        yield* entries;
      },
    },
    turns: { isWaiting: async () => false },
  };
}

/** A client over as many connections as it takes, each on any pod. */
function createClient(items: () => readonly WatchItem[]) {
  const assembler = createChunkAssembler();
  let text = '';
  let connection: Awaited<ReturnType<typeof connect>> | undefined;

  async function connect() {
    const after =
      assembler.lastEventId === undefined ? undefined : parseReaderPosition(assembler.lastEventId);
    if (assembler.lastEventId !== undefined) expect(after).toBeDefined();
    const isReturning = assembler.hasBegun;
    const facts = isReturning ? await readReplayFacts(replayOf(items()), STREAM, after) : undefined;
    return { encoder: createAiSdkEncoder(after), read: createTurnReader({ facts, after }), next: 0 };
  }

  function disconnect(): void {
    for (const item of assembler.disconnect()) take(item);
    connection = undefined;
  }

  function take(item: ReturnType<typeof assembler.add>[number]): void {
    if (item.type === 'reset') text = '';
    else if (item.chunk.type === 'text-delta') text += item.chunk.delta;
  }

  async function deliver(item: WatchItem | LiveItem, framesMax: number): Promise<void> {
    connection ??= await connect();
    let left = framesMax;
    for (const event of connection.read(item)) {
      const { frames, next } = connection.encoder.encode(event);
      for (const frame of frames) {
        left -= 1;
        if (left >= 0) for (const each of assembler.add({ id: frame.id, data: frame.text })) take(each);
      }
      if (next === 'cut' || left < 0) {
        disconnect();
        return;
      }
    }
  }

  return {
    get text() {
      return text;
    },
    get isOver() {
      return assembler.isOver;
    },
    disconnect,
    deliver: (item: LiveItem, framesMax = Number.POSITIVE_INFINITY) => deliver(item, framesMax),
    /** Delivers further items of the feed. The connection breaks after so many frames. */
    async readFeed(count: number, framesMax = Number.POSITIVE_INFINITY) {
      for (let index = 0; index < count; index += 1) {
        connection ??= await connect();
        const item = items()[connection.next];
        if (item === undefined) return;
        connection.next += 1;
        await deliver(item, framesMax);
      }
    },
  };
}

const text = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 4 }),
  fc.constantFrom('\ud83d', '\ude00', 'word '),
);
const action = fc.oneof(
  { weight: 6, arbitrary: text.map((said) => ({ type: 'say', said }) as const) },
  { weight: 6, arbitrary: fc.constant({ type: 'publish' } as const) },
  { weight: 2, arbitrary: fc.constant({ type: 'store' } as const) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('ask', 'endBlock', 'endStep', 'takeOver').map((type) => ({ type }) as const),
  },
  {
    weight: 8,
    // Mostly the text that was published last; also one of long ago.
    arbitrary: fc
      .record({ back: fc.oneof(fc.constant(0), fc.nat(12)), frames: fc.oneof(fc.constant(99), fc.nat(2)) })
      .map((how) => ({ type: 'live', ...how }) as const),
  },
  {
    weight: 6,
    arbitrary: fc
      .record({ count: fc.nat(6), frames: fc.oneof(fc.constant(99), fc.nat(4)) })
      .map((how) => ({ type: 'read', ...how }) as const),
  },
  { weight: 2, arbitrary: fc.constant({ type: 'disconnect' } as const) },
);

async function runAll(actions: readonly (typeof action extends fc.Arbitrary<infer A> ? A : never)[]) {
  const writer = createWriter();
  const client = createClient(writer.items);
  let questions = 0;
  let hasRestarted = false;
  for (const each of actions) {
    if (each.type === 'say') writer.say(each.said);
    else if (each.type === 'ask') writer.ask(`el_${questions++}`);
    else if (each.type === 'live') {
      const item = writer.published.at(-1 - each.back);
      if (item !== undefined) await client.deliver(item, each.frames);
    } else if (each.type === 'read') await client.readFeed(each.count, each.frames);
    else if (each.type === 'disconnect') client.disconnect();
    else writer[each.type]();
    hasRestarted ||= each.type === 'takeOver';
    // Until the restart has arrived, a reader shows what it replaces. Half of a character waits for the other half.
    if (!hasRestarted)
      expect(
        writer
          .said()
          .toWellFormed()
          .startsWith(client.text.replace(/\ufffd$/, '')),
      ).toBe(true);
  }
  writer.finish();
  for (let tries = 0; tries < 5 && !client.isOver; tries += 1)
    await client.readFeed(writer.items().length + 1);
  return { said: writer.said(), text: client.text, isOver: client.isOver };
}

/** A client that has the beginning of a text, which the feed does not hold yet. */
async function begunText() {
  const writer = createWriter();
  const client = createClient(writer.items);
  await client.readFeed(2);
  writer.say('Good ');
  writer.publish();
  await client.deliver(writer.published[0] as LiveItem);
  return { writer, client };
}

describe('a text that is published before the feed holds it', () => {
  it('arrives once and whole, whatever is lost, late or doubled, and wherever its reader comes back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
        const { said: expected, text: got, isOver } = await runAll(actions);
        expect(isOver).toBe(true);
        expect(got).toBe(expected);
      }),
      { numRuns: sized(3_000, 300) },
    );
  });

  it('comes at once, and not again with the feed', async () => {
    const { writer, client } = await begunText();
    expect(client.text).toBe('Good ');
    writer.say('day');
    writer.store();
    await client.readFeed(1);
    expect(client.text).toBe('Good day');
  });
});
