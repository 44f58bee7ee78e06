import type { BusSignal, EventBus, Subscription, Topic } from '@parley/shared/ports/elicitations/event-bus';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import type { ApprovalBuses, ToolApproval } from '../../../harness/engines/pods.ts';
import { newOwner, newStream } from '../../../harness/engines/questions.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

interface Listener extends Subscription {
  readonly signals: BusSignal<ToolApproval>[];
  readonly calls: () => string[];
  /** Waits for a number of resyncs. */
  synced(times?: number): Promise<void>;
  /** Waits for a number of events. */
  received(count: number): Promise<string[]>;
}

function listen(bus: EventBus<ToolApproval>, topic: Topic): Listener {
  const signals: BusSignal<ToolApproval>[] = [];
  let returned = false;
  const subscription = bus.subscribe(topic, (signal) => {
    expect(returned).toBe(true);
    signals.push(signal);
  });
  returned = true;
  const calls = () => signals.flatMap((signal) => (signal.type === 'event' ? [signal.event.callId] : []));
  return {
    signals,
    calls,
    async synced(times = 1) {
      const resyncs = () => signals.filter(({ type }) => type === 'resync').length;
      await waitUntil(() => resyncs() >= times, { what: `${times} resyncs`, everyMs: 5 });
    },
    async received(count) {
      await waitUntil(() => calls().length >= count, { what: `${count} events`, everyMs: 5 });
      return calls();
    },
    unsubscribe: () => subscription.unsubscribe(),
  };
}

const approve = (callId: string): ToolApproval => ({ callId, approved: true });

/** An event bus of another family: the same promises for events that Parley knows nothing of. */
export function busContract(contract: Contract): void {
  let buses: ApprovalBuses;
  beforeAll(async () => {
    buses = await contract.pods.approvals();
  });
  afterAll(() => buses?.close());

  describe('an event bus', () => {
    it('sends resync once it is subscribed, then every event of its topic, complete and in order', async () => {
      const topic = newStream();
      const listener = listen(buses.second, topic);
      await listener.synced();
      const events = Array.from(
        { length: 100 },
        (_, at): ToolApproval => ({ callId: `${at}`, approved: at % 2 === 0, note: `Zoë 🦜\n${at}` }),
      );
      for (const event of events) await buses.first.publish(topic, event);
      await listener.received(100);
      expect(listener.signals).toEqual([
        { type: 'resync' },
        ...events.map((event) => ({ type: 'event', event })),
      ]);
    });

    it('reaches every listener of a topic on both pods, each once', async () => {
      const topic = newStream();
      const listeners = [buses.first, buses.second, buses.second].map((bus) => listen(bus, topic));
      for (const listener of listeners) await listener.synced();
      await buses.first.publish(topic, approve('one'));
      await buses.second.publish(topic, approve('two'));
      for (const listener of listeners) expect(await listener.received(2)).toEqual(['one', 'two']);
    });

    it('sends resync to a late listener of a topic that others already listen to', async () => {
      const topic = newStream();
      const early = listen(buses.second, topic);
      await early.synced();
      await buses.first.publish(topic, approve('one'));
      await early.received(1);
      const late = listen(buses.second, topic);
      await late.synced();
      await buses.first.publish(topic, approve('two'));
      expect(await late.received(1)).toEqual(['two']);
      expect(early.signals.filter(({ type }) => type === 'resync')).toHaveLength(1);
    });

    it('stops at once for the listener that unsubscribes, and for no other', async () => {
      const topic = newStream();
      const [leaving, staying] = [listen(buses.second, topic), listen(buses.second, topic)];
      await leaving.synced();
      await staying.synced();
      await buses.first.publish(topic, approve('one'));
      await leaving.received(1);
      leaving.unsubscribe();
      leaving.unsubscribe();
      await buses.first.publish(topic, approve('two'));
      expect(await staying.received(2)).toEqual(['one', 'two']);
      expect(leaving.calls()).toEqual(['one']);
      const silent = listen(buses.second, topic);
      silent.unsubscribe();
      const back = listen(buses.second, topic);
      await back.synced();
      await buses.first.publish(topic, approve('three'));
      expect(await back.received(1)).toEqual(['three']);
      expect(silent.signals).toEqual([]);
    });

    it('delivers again to a listener that resubscribes, however soon', async () => {
      for (let round = 0; round < 60; round += 1) {
        const topic = newStream();
        listen(buses.second, topic).unsubscribe();
        for (let turn = 0; turn < round % 12; turn += 1) await new Promise(setImmediate);
        const listener = listen(buses.second, topic);
        await listener.synced();
        await buses.first.publish(topic, approve(`${round}`));
        expect(await listener.received(1)).toEqual([`${round}`]);
        listener.unsubscribe();
      }
    });

    it('keeps the topics of tenants, users, streams and inboxes apart', async () => {
      const topic = newStream();
      const { tenant, userId } = topic;
      const topics: Topic[] = [
        topic,
        { tenant, userId },
        { ...topic, tenant: newOwner().tenant },
        { ...topic, userId: 'other' },
        { ...topic, streamRequestId: `${topic.streamRequestId}x` },
        { tenant, userId: `${userId}/${topic.streamRequestId}` },
      ];
      const listeners = topics.map((each) => listen(buses.second, each));
      for (const listener of listeners) await listener.synced();
      await Promise.all(topics.map((each, at) => buses.first.publish(each, approve(`for ${at}`))));
      for (const [at, listener] of listeners.entries()) {
        await listener.received(1);
        expect(listener.calls()).toEqual([`for ${at}`]);
      }
    });

    it('does not mix with the event families of elicitations', async () => {
      const topic = newStream();
      const approvals = listen(buses.second, topic);
      await approvals.synced();
      const wakes: unknown[] = [];
      let ready = false;
      const subscription = contract.pods.second.wakes.subscribe(topic, (signal) => {
        if (signal.type === 'event') wakes.push(signal.event);
        else ready = true;
      });
      await waitUntil(() => ready, { what: 'the resync of the wakes', everyMs: 5 });
      const wake = { position: '1-1', elicitationId: 'el_1', revision: 1, status: 'pending', at: 1 } as const;
      await buses.first.publish(topic, approve('one'));
      await contract.pods.backend.wakes.publish(topic, wake);
      await waitUntil(() => wakes.length > 0, { what: 'the wake', everyMs: 5 });
      expect(await approvals.received(1)).toEqual(['one']);
      expect(wakes).toEqual([wake]);
      subscription.unsubscribe();
    });

    it('still works after hundreds of topics at once', async () => {
      const topics = Array.from({ length: 700 }, () => newStream());
      const listeners = topics.map((topic) => listen(buses.second, topic));
      const all = (signals: number) => listeners.every((listener) => listener.signals.length >= signals);
      await waitUntil(() => all(1), { what: 'every topic to be listened to' });
      await Promise.all(topics.map((topic, at) => buses.first.publish(topic, approve(`${at}`))));
      await waitUntil(() => all(2), { what: 'every event' });
      expect(listeners.map((listener) => listener.calls())).toEqual(topics.map((_, at) => [`${at}`]));
      for (const listener of listeners) listener.unsubscribe();
    });

    if (contract.hasLine) it('says resync again whenever events may have been missed', saysResyncAgain);

    if (contract.hasLine) {
      it('spreads the resyncs of many topics after a lost connection', spreadsResyncs);
      it('sends resync to every topic although the connection is lost repeatedly', resyncsBetweenCuts);
    }

    /** Subscribes to many topics, and counts the resyncs of each and the most in one turn of the event loop. */
    async function subscribeMany(count: number) {
      const topics = Array.from({ length: count }, () => newStream());
      const counts = { resyncs: new Map<Topic, number>(), inThisTurn: 0, mostInOneTurn: 0 };
      const subscriptions = topics.map((topic) =>
        buses.second.subscribe(topic, ({ type }) => {
          if (type === 'resync') counts.resyncs.set(topic, (counts.resyncs.get(topic) ?? 0) + 1);
          if (counts.inThisTurn === 0) setImmediate(() => Object.assign(counts, { inThisTurn: 0 }));
          counts.inThisTurn += 1;
          counts.mostInOneTurn = Math.max(counts.mostInOneTurn, counts.inThisTurn);
        }),
      );
      const all = (times: number) => topics.every((topic) => (counts.resyncs.get(topic) ?? 0) >= times);
      await waitUntil(() => all(1), { what: 'every topic to be subscribed' });
      const close = () => {
        for (const subscription of subscriptions) subscription.unsubscribe();
      };
      return { counts, all, close };
    }

    async function spreadsResyncs(): Promise<void> {
      const { counts, all, close } = await subscribeMany(700);
      counts.mostInOneTurn = 0;
      buses.cut();
      await waitUntil(() => all(2), { what: 'every topic to be resynced' });
      expect(counts.mostInOneTurn).toBeLessThan(70);
      close();
    }

    async function resyncsBetweenCuts(): Promise<void> {
      const { counts, all, close } = await subscribeMany(200);
      const total = () => [...counts.resyncs.values()].reduce((sum, times) => sum + times, 0);
      for (let round = 0; round < 30 && !all(2); round += 1) {
        const before = total();
        buses.cut();
        await waitUntil(() => total() > before, { what: 'a resync', everyMs: 1 });
      }
      expect(all(2)).toBe(true);
      close();
    }

    async function saysResyncAgain(): Promise<void> {
      const topic = newStream();
      const listeners = [listen(buses.second, topic), listen(buses.second, topic)];
      for (const listener of listeners) await listener.synced();
      for (const times of [2, 3]) {
        buses.cut();
        await buses.first.publish(topic, approve('into the void'));
        for (const listener of listeners) await listener.synced(times);
        await buses.first.publish(topic, approve(`after ${times}`));
        for (const listener of listeners) {
          await waitUntil(() => listener.calls().includes(`after ${times}`), {
            what: 'the event after the cut',
            everyMs: 5,
          });
        }
      }
    }
  });
}
