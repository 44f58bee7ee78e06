import { eventNumberOf, formatFeedPosition } from '@parley/shared/domain/events';
import type { StreamRef } from '@parley/shared/domain/ids';
import type { EventBus, Topic } from '@parley/shared/ports/elicitations/event-bus';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { engineOn } from '../../../harness/engines/engines.ts';
import { readAll, readEntries } from '../../../harness/engines/observe.ts';
import {
  answerQuestion,
  askQuestion,
  newOwner,
  newStream,
  QUESTIONS,
  send,
  serviceOf,
} from '../../../harness/engines/questions.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

const SECRET = 'hunter2-the-answer';

/** The ordered, replayable events of a stream request. */
export function feedContract(contract: Contract): void {
  /** Seven events of three questions, written on both pods. */
  async function filled(): Promise<StreamRef> {
    const { first, second } = contract;
    const stream = newStream();
    const { row: one } = await askQuestion(first, stream);
    const { row: two } = await askQuestion(second, stream, QUESTIONS['url, server completion']);
    await send(first, stream, two.id, 'url, server completion', 'accept');
    await answerQuestion(second, stream, one.id, 'accept', { colour: 'red' });
    const { row: three } = await askQuestion(first, stream);
    await send(second, stream, two.id, 'url, server completion', 'complete');
    await first.withdraw({ caller: serviceOf(stream), id: three.id, reason: 'run_stopped' });
    return stream;
  }

  describe('the feed of a question that is alone on its stream request', () => {
    /** Three events of a question that names no stream request, written on both pods. */
    async function filledAlone(): Promise<{ stream: StreamRef; id: string }> {
      const { first, second } = contract;
      const owner = newOwner();
      const kind = 'url, server completion';
      const { row } = await askQuestion(first, owner, QUESTIONS[kind]);
      await send(second, owner, row.id, kind, 'accept');
      await send(first, owner, row.id, kind, 'complete');
      return { stream: { ...owner, streamRequestId: row.definition.streamRequestId }, id: row.id };
    }

    it('has each change in order, and is replayed from every position', async () => {
      const { pods } = contract;
      const { stream, id } = await filledAlone();
      const entries = await readEntries(pods.backend.feed, stream);
      expect(entries.map(({ event }) => event)).toEqual([
        { type: 'elicitation-request', elicitationId: id, revision: 1, status: 'pending' },
        { type: 'elicitation-updated', elicitationId: id, revision: 2, status: 'opened' },
        {
          type: 'elicitation-resolved',
          elicitationId: id,
          revision: 3,
          status: 'accepted',
          action: 'accept',
          surface: 'test',
        },
      ]);
      expect(entries.map(({ position }) => eventNumberOf(position))).toEqual([1, 2, 3]);
      const { row } = await contract.second.read(serviceOf(stream), id);
      expect([entries[0]?.at, entries[2]?.at]).toEqual([row.createdAt, row.settledAt]);
      const epoch = entries[0]?.position.epoch ?? '';
      const { feed } = pods.second;
      for (let count = 0; count <= entries.length; count += 1) {
        for (const limit of [1, 2, 100]) {
          const page = await feed.read(stream, entries[count - 1]?.position ?? { epoch, seq: 0 }, limit);
          expect(page).toEqual({ type: 'entries', entries: entries.slice(count, count + limit) });
        }
      }
      const unknown = [
        ...entries.flatMap(({ position }) => [-1, 1].map((by) => ({ ...position, seq: position.seq + by }))),
        { epoch, seq: 4_000_000 },
        { epoch: String(BigInt(epoch) + 1n), seq: 0 },
        { epoch: '1', seq: 1 },
      ];
      for (const after of unknown) expect(await feed.read(stream, after, 10)).toEqual({ type: 'reset' });
    });

    it('does not exist for anybody else', async () => {
      const { feed } = contract.pods.second;
      const { stream } = await filledAlone();
      for (const other of [{ userId: 'other' }, { tenant: `${stream.tenant}-2` }])
        expect(await feed.read({ ...stream, ...other }, undefined, 10)).toEqual({ type: 'none' });
      const { streamRequestId } = stream;
      const longer = { ...stream, streamRequestId: `${streamRequestId}a` };
      expect(await feed.read(longer, undefined, 10)).toEqual({ type: 'none' });
    });

    it('is followed live from another pod, with the wakes of its commits', async () => {
      const { first, second, pods } = contract;
      const owner = newOwner();
      const { row } = await askQuestion(first, owner);
      const stream = { ...owner, streamRequestId: row.definition.streamRequestId };
      const stop = new AbortController();
      const watching = { stream, evenIfSilent: false, signal: stop.signal };
      const reader = readAll(await second.watch(watching));
      const wakes = heardOn(pods.second.wakes, stream);
      await waitUntil(() => wakes.ready() && reader.seen.length === 1, {
        what: 'the first event',
        everyMs: 5,
      });
      await answerQuestion(first, owner, row.id, 'accept', { colour: 'red' });
      await reader.first(2);
      const entries = await readEntries(pods.backend.feed, stream);
      const ids = entries.map(({ position }) => formatFeedPosition(position));
      expect(reader.seen).toMatchObject([
        { id: ids[0], event: 'elicitation-request', elicitation: { status: 'pending' } },
        { id: ids[1], event: 'elicitation-resolved', elicitation: { status: 'accepted', action: 'accept' } },
      ]);
      // Through a Cluster, the wake of the first commit may arrive after the subscription.
      const ofAnswer = () => wakes.events.filter(({ position }) => position === ids[1]);
      await waitUntil(() => ofAnswer().length > 0, { what: 'the wake', everyMs: 5 });
      expect(ofAnswer()).toMatchObject([{ elicitationId: row.id, revision: 2 }]);
      stop.abort();
      wakes.unsubscribe();
    });
  });

  describe('a feed', () => {
    it('keeps every change in order, with positions of one epoch that count the events', async () => {
      const { pods } = contract;
      const stream = await filled();
      const entries = await readEntries(pods.backend.feed, stream);
      expect(entries.map(({ event }) => `${event.type} ${'status' in event && event.status}`)).toEqual([
        'elicitation-request pending',
        'elicitation-request pending',
        'elicitation-updated opened',
        'elicitation-resolved accepted',
        'elicitation-request pending',
        'elicitation-resolved accepted',
        'elicitation-resolved withdrawn',
      ]);
      expect(entries.map(({ position }) => eventNumberOf(position))).toEqual([1, 2, 3, 4, 5, 6, 7]);
      expect(new Set(entries.map(({ position }) => position.epoch)).size).toBe(1);
      const times = entries.map(({ at }) => at);
      expect(times).toEqual([...times].sort((a, b) => a - b));
      expect(entries.at(-1)?.event).toMatchObject({ reason: 'run_stopped', revision: 2 });
      expect(await readEntries(pods.second.feed, stream)).toEqual(entries);
    });

    it('is replayed from every position, in pages of any size', async () => {
      const { feed } = contract.pods.second;
      const stream = await filled();
      const entries = await readEntries(feed, stream);
      const start = { epoch: entries[0]?.position.epoch ?? '', seq: 0 };
      for (let count = 0; count <= entries.length; count += 1) {
        for (const limit of [1, 3, 100]) {
          const page = await feed.read(stream, entries[count - 1]?.position ?? start, limit);
          expect(page).toEqual({ type: 'entries', entries: entries.slice(count, count + limit) });
        }
      }
      for (const limit of [1, 2, 7]) expect(await readEntries(feed, stream, limit)).toEqual(entries);
    });

    it('reports a position of another feed, or of an event that it lost', async () => {
      const { feed } = contract.pods.backend;
      const stream = await filled();
      const entries = await readEntries(feed, stream);
      const epoch = BigInt(entries[0]?.position.epoch ?? '');
      const positions = [
        // The same event, as another write would have appended it.
        ...entries.flatMap(({ position }) => [-1, 1].map((by) => ({ ...position, seq: position.seq + by }))),
        { epoch: String(epoch), seq: 3 },
        { epoch: String(epoch), seq: 8 },
        { epoch: String(epoch), seq: 1_000_000 },
        { epoch: String(epoch - 1n), seq: 3 },
        { epoch: String(epoch - 1n), seq: 7 },
        { epoch: String(epoch + 1n), seq: 0 },
        { epoch: String(epoch + 1n), seq: 7 },
        { epoch: '1', seq: 0 },
        { epoch: '9999999999999999999', seq: 1 },
      ];
      for (const after of positions) {
        const found = { position: formatFeedPosition(after), page: await feed.read(stream, after, 10) };
        expect(found).toEqual({ position: found.position, page: { type: 'reset' } });
      }
    });

    it('does not exist where no question was asked', async () => {
      const { feed } = contract.pods.backend;
      expect(await feed.read(newStream(), undefined, 10)).toEqual({ type: 'none' });
      expect(await feed.read(newStream(), { epoch: '1', seq: 1 }, 10)).toEqual({ type: 'none' });
    });

    it('has no gap and no duplicate when both pods write at once', async () => {
      const { first, second, pods } = contract;
      const stream = newStream();
      const ids = await Promise.all(
        Array.from({ length: 40 }, async (_, at) => {
          const [one, other] = at % 2 === 0 ? [first, second] : [second, first];
          const { row } = await askQuestion(one, stream);
          await answerQuestion(other, stream, row.id, at % 3 === 0 ? 'decline' : 'cancel');
          return row.id;
        }),
      );
      const entries = await readEntries(pods.backend.feed, stream);
      expect(entries.map(({ position }) => eventNumberOf(position))).toEqual(
        Array.from({ length: 80 }, (_, at) => at + 1),
      );
      for (const id of ids) {
        const own = entries.filter(({ event }) => 'elicitationId' in event && event.elicitationId === id);
        expect(own.map(({ event }) => 'revision' in event && event.revision)).toEqual([1, 2]);
      }
    });

    it('is followed from its end without a gap or a reset while it grows', async () => {
      const { first, second, pods } = contract;
      const stream = newStream();
      await askQuestion(first, stream);
      let writing = true;
      const writers = Promise.all(
        [first, second].map(async (engine) => {
          for (let count = 0; count < 60; count += 1) await askQuestion(engine, stream);
        }),
      ).finally(() => {
        writing = false;
      });
      const numbers = [1];
      let [last] = await readEntries(pods.backend.feed, stream, 1_000);
      while (last !== undefined && (writing || eventNumberOf(last.position) < 121)) {
        const page = await pods.second.feed.read(stream, last.position, 3);
        if (page.type !== 'entries') throw new Error(`The feed said ${page.type}.`);
        numbers.push(...page.entries.map(({ position }) => eventNumberOf(position)));
        last = page.entries.at(-1) ?? last;
      }
      await writers;
      expect(numbers).toEqual(Array.from({ length: 121 }, (_, at) => at + 1));
    });

    it('never holds an answer', async () => {
      const { first, pods } = contract;
      const stream = newStream();
      const { row } = await askQuestion(first, stream);
      const content = { colour: 'red', note: SECRET };
      const caller = { kind: 'user', tenant: stream.tenant, userId: stream.userId } as const;
      const response = { action: 'accept', content, responseId: `${SECRET}-id` } as const;
      await first.answer({ caller, id: row.id, response, surface: 'chat' });
      const entries = await readEntries(pods.backend.feed, stream);
      expect(JSON.stringify(entries)).not.toContain(SECRET);
      expect(entries.at(-1)?.event).toEqual({
        type: 'elicitation-resolved',
        elicitationId: row.id,
        revision: 2,
        status: 'accepted',
        action: 'accept',
        surface: 'chat',
      });
    });

    it('publishes wakes with the same positions to its readers and to the user’s inbox', async () => {
      const { first, pods } = contract;
      const stream = newStream();
      const owner = { tenant: stream.tenant, userId: stream.userId };
      const wakes = heardOn(pods.second.wakes, stream);
      const inboxWakes = heardOn(pods.second.inboxWakes, owner);
      await waitUntil(() => wakes.ready() && inboxWakes.ready(), { what: 'the subscriptions', everyMs: 5 });
      const kind = 'url, server completion';
      const { row } = await askQuestion(first, stream, QUESTIONS[kind]);
      await send(first, stream, row.id, kind, 'accept');
      const { row: done } = await send(first, stream, row.id, kind, 'complete');
      const entries = await readEntries(pods.backend.feed, stream);
      const expected = entries.map(({ position, at }, index) => ({
        position: formatFeedPosition(position),
        elicitationId: row.id,
        revision: index + 1,
        status: ['pending', 'opened', 'accepted'][index],
        at,
      }));
      for (const { events } of [wakes, inboxWakes]) {
        await waitUntil(() => events.length >= 3, { what: 'the wakes', everyMs: 5 });
        expect(events).toMatchObject(expected);
        expect(events.map((event) => ('settlement' in event ? event.settlement : undefined))).toEqual([
          undefined,
          undefined,
          done.settlement,
        ]);
      }
      wakes.unsubscribe();
      inboxWakes.unsubscribe();
    });

    it('that is full drops its oldest events, and reports this to readers at a dropped position', async () => {
      const pods = await contract.openWith({ feedEventsMax: 10 });
      const engine = engineOn(pods.backend);
      const stream = newStream();
      const { row } = await askQuestion(engine, stream);
      const [start] = await readEntries(pods.backend.feed, stream);
      await Promise.all(Array.from({ length: 259 }, () => askQuestion(engine, stream)));
      await answerQuestion(engine, stream, row.id, 'decline');
      expect(await pods.second.feed.read(stream, start?.position, 10)).toEqual({ type: 'reset' });
      const kept = await readEntries(pods.second.feed, stream);
      expect(kept.length).toBeGreaterThanOrEqual(10);
      expect(kept.length).toBeLessThan(130);
      expect(kept.map(({ position }) => eventNumberOf(position))).toEqual(
        kept.map((_, at) => 262 - kept.length + at),
      );
      expect(kept.at(-1)?.event.type).toBe('elicitation-resolved');
    });
  });
}

/** What a bus brings about a topic. */
function heardOn<T>(bus: EventBus<T>, topic: Topic) {
  const events: T[] = [];
  let synced = false;
  const { unsubscribe } = bus.subscribe(topic, (signal) => {
    if (signal.type === 'event') events.push(signal.event);
    else synced = true;
  });
  return { events, ready: () => synced, unsubscribe };
}
