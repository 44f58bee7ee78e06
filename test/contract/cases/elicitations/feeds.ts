import { eventNumberOf, formatFeedPosition } from '@parley/core/domain/events';
import type { StreamRef } from '@parley/core/domain/ids';
import type { EventBus, Topic } from '@parley/shared/ports/elicitations/event-bus';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { engineOn } from '../../../harness/engines/engines.ts';
import { readAll, readEntries } from '../../../harness/engines/observe.ts';
import {
  answerQuestion,
  askOnStream,
  askQuestion,
  askSomebody,
  newStream,
  QUESTIONS,
  send,
  serviceOf,
} from '../../../harness/engines/questions.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

const KIND = 'url, server completion';

/** The ordered, replayable events of a stream request. */
export function feedContract(contract: Contract): void {
  /** Events of three questions, written on both pods. */
  async function filled(): Promise<{ stream: StreamRef; statuses: string[] }> {
    const { first, second } = contract;
    const stream = newStream();
    const { row: one } = await askQuestion(first, stream);
    const { row: two } = await askQuestion(second, stream, QUESTIONS[KIND]);
    await send(first, stream, two.id, KIND, 'accept');
    await answerQuestion(second, stream, one.id, 'accept', { colour: 'red' });
    const { row: three } = await askQuestion(first, stream);
    await send(second, stream, two.id, KIND, 'complete');
    await first.withdraw({ caller: serviceOf(stream), id: three.id, reason: 'run_stopped' });
    const statuses = ['pending', 'pending', 'opened', 'accepted', 'pending', 'accepted', 'withdrawn'];
    return { stream, statuses };
  }

  /** Events of a question that names no stream request, written on both pods. */
  async function filledAlone(): Promise<{ stream: StreamRef; statuses: string[] }> {
    const { first, second } = contract;
    const { owner, row } = await askSomebody(first, QUESTIONS[KIND]);
    await send(second, owner, row.id, KIND, 'accept');
    await send(first, owner, row.id, KIND, 'complete');
    const stream = { ...owner, streamRequestId: row.definition.streamRequestId };
    return { stream, statuses: ['pending', 'opened', 'accepted'] };
  }

  describe.each([
    ['the feed of a stream request', filled],
    ['the feed of a question that is alone on its stream request', filledAlone],
  ])('%s', (_name, fill) => {
    it('has each change in order, with positions of one epoch that count the events', async () => {
      const { pods } = contract;
      const { stream, statuses } = await fill();
      const entries = await readEntries(pods.backend.feed, stream);
      expect(entries.map(({ event }) => 'status' in event && event.status)).toEqual(statuses);
      expect(entries.map(({ position }) => eventNumberOf(position))).toEqual(statuses.map((_, at) => at + 1));
      expect(new Set(entries.map(({ position }) => position.epoch)).size).toBe(1);
      const [asked, ended] = [entries[0], entries.at(-1)];
      for (const entry of [asked, ended]) {
        if (entry === undefined || !('elicitationId' in entry.event)) throw new Error('There are events.');
        const { row } = await contract.second.read(serviceOf(stream), String(entry.event.elicitationId));
        expect(entry.at).toBe(entry === asked ? row.createdAt : row.settledAt);
      }
      expect(await readEntries(pods.second.feed, stream)).toEqual(entries);
    });

    it('is replayed from every position, in pages of any size, and reports a position that it does not have', async () => {
      const { feed } = contract.pods.second;
      const { stream } = await fill();
      const entries = await readEntries(feed, stream);
      const epoch = entries[0]?.position.epoch ?? '';
      for (let count = 0; count <= entries.length; count += 1) {
        for (const limit of [1, 3, 100]) {
          const page = await feed.read(stream, entries[count - 1]?.position ?? { epoch, seq: 0 }, limit);
          expect(page).toEqual({ type: 'entries', entries: entries.slice(count, count + limit) });
        }
      }
      for (const limit of [1, 3, 100]) {
        expect(await feed.readNewest(stream, limit)).toEqual(entries.slice(-limit).reverse());
        for (const [at, { position }] of entries.entries())
          expect(await feed.readNewest(stream, limit, position)).toEqual(
            entries.slice(0, at).slice(-limit).reverse(),
          );
      }
      const unknown = [
        // The same event, as another write would have appended it.
        ...entries.flatMap(({ position }) => [-1, 1].map((by) => ({ ...position, seq: position.seq + by }))),
        ...[3, 8, 4_000_000].map((seq) => ({ epoch, seq })),
        ...[0, 7].map((seq) => ({ epoch: String(BigInt(epoch) + 1n), seq })),
        ...[3, 7].map((seq) => ({ epoch: String(BigInt(epoch) - 1n), seq })),
        ...['1', '9999999999999999999'].map((other) => ({ epoch: other, seq: 1 })),
      ];
      for (const after of unknown) expect(await feed.read(stream, after, 10)).toEqual({ type: 'reset' });
    });

    it('does not exist for anybody else', async () => {
      const { feed } = contract.pods.second;
      const { stream } = await fill();
      const longer = { streamRequestId: `${stream.streamRequestId}a` };
      for (const other of [{ userId: 'other' }, { tenant: `${stream.tenant}-2` }, longer, newStream()])
        for (const after of [undefined, { epoch: '1', seq: 1 }])
          expect(await feed.read({ ...stream, ...other }, after, 10)).toEqual({ type: 'none' });
      expect(await feed.readNewest(newStream(), 10)).toEqual([]);
    });
  });

  describe('a feed', () => {
    it('of a question that is alone is followed live from another pod, with the wakes of its commits', async () => {
      const { first, second, pods } = contract;
      const { owner, row } = await askSomebody(first);
      const stream = { ...owner, streamRequestId: row.definition.streamRequestId };
      const watching = { stream, evenIfSilent: false, signal: contract.signal() };
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
      wakes.unsubscribe();
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

    it('publishes wakes with the same positions to its readers and to the user’s inbox', async () => {
      const { first, pods } = contract;
      const stream = newStream();
      const owner = { tenant: stream.tenant, userId: stream.userId };
      const wakes = heardOn(pods.second.wakes, stream);
      const inboxWakes = heardOn(pods.second.inboxWakes, owner);
      await waitUntil(() => wakes.ready() && inboxWakes.ready(), { what: 'the subscriptions', everyMs: 5 });
      const { row } = await askQuestion(first, stream, QUESTIONS[KIND]);
      await send(first, stream, row.id, KIND, 'accept');
      const { row: done } = await send(first, stream, row.id, KIND, 'complete');
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
      const { stream, row } = await askOnStream(engine);
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
