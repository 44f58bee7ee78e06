import { ParleyError } from '@parley/core/domain/errors';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import type { BusSignal, Topic } from '@parley/shared/ports/elicitations/event-bus';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { engineOn } from '../../harness/engines/engines.ts';
import { callOutcome, readAll } from '../../harness/engines/observe.ts';
import { answerQuestion, askOnStream, type newStream, serviceOf } from '../../harness/engines/questions.ts';
import { ROOMY } from '../../harness/engines/settings.ts';

const RECHECK_MS = 1_000;
const GRACE_MS = 2_000;
const OUTAGE_MS = 120_000;
// A quarter of a second, doubled up to eight seconds: six reads in the first 16 s, then one in eight seconds or less.
const READS_MAX = 45;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A pod on the memory backend whose store can be unavailable. */
function openPod() {
  const backend = createMemoryBackend(ROOMY);
  const { elicitations, records, feed } = backend;
  const store = { isAway: false, reads: 0, times: new Set<number>() };
  const whileHere =
    <A extends unknown[], R>(run: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      store.reads += 1;
      store.times.add(performance.now());
      if (store.isAway) throw new ParleyError('unavailable', 'The store is unavailable.');
      return run(...args);
    };
  const listeners = new Set<() => void>();
  const bus = {
    publish: async () => undefined,
    subscribe(_topic: Topic, listener: (signal: BusSignal<never>) => void) {
      listeners.add(() => listener({ type: 'resync' }));
      return { unsubscribe: () => undefined };
    },
  };
  const engine = engineOn(backend, {
    elicitations: {
      ...elicitations,
      read: whileHere(elicitations.read),
      page: whileHere(elicitations.page),
    },
    records: {
      readMany: whileHere(records.readMany),
      openPage: whileHere(records.openPage),
    },
    feed: { ...feed, read: whileHere((...args: Parameters<typeof feed.read>) => feed.read(...args)) },
    wakes: bus,
    inboxWakes: bus,
    settings: { recheckMs: RECHECK_MS, graceMs: GRACE_MS },
  });
  return {
    engine,
    other: engineOn(backend),
    store,
    resync() {
      for (const listener of listeners) listener();
    },
  };
}

type Pod = ReturnType<typeof openPod>;
type Stream = ReturnType<typeof newStream>;

/** Starts each kind of sleeper; the result says whether it has got the end of the question. */
const SLEEPERS: Record<string, (pod: Pod, stream: Stream, id: string) => () => boolean> = {
  waiter({ engine }, stream, id) {
    let ended = false;
    void engine.wait({ caller: serviceOf(stream), id }).then(({ row }) => {
      ended = row.status === 'declined';
    });
    return () => ended;
  },
  'reader of a stream'({ engine }, stream) {
    const seen: unknown[] = [];
    void engine.watch({ stream, evenIfSilent: true }).then(async (items) => {
      for await (const item of items) seen.push(item);
    });
    return () => seen.length === 2;
  },
  'reader of an inbox'({ engine }, owner) {
    const { seen } = readAll(engine.watchInbox({ owner }));
    return () => seen.length === 2;
  },
};

describe.each(Object.entries(SLEEPERS))('during an outage, a %s', (_name, sleep) => {
  it('reads less and less often, and soon after the resync', async () => {
    const pod = openPod();
    const { engine, other, store, resync } = pod;
    const { stream, row } = await askOnStream(engine, { timeoutSeconds: 3_600 });
    const hasEnd = sleep(pod, stream, row.id);
    await vi.advanceTimersByTimeAsync(10);

    store.isAway = true;
    await vi.advanceTimersByTimeAsync(RECHECK_MS);
    store.reads = 0;
    await vi.advanceTimersByTimeAsync(OUTAGE_MS);
    expect(store.reads).toBeGreaterThan(3);
    expect(store.reads).toBeLessThan(READS_MAX);
    await answerQuestion(other, stream, row.id, 'decline');

    // Subscriptions may be back before commands are.
    resync();
    await vi.advanceTimersByTimeAsync(10);
    store.isAway = false;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(hasEnd()).toBe(true);
  });
});

it.each(Object.entries(SLEEPERS))(
  'each %s of a process reads again at the moment of the others, whenever it began',
  async (_name, sleep) => {
    const pod = openPod();
    const { stream, row } = await askOnStream(pod.engine, { timeoutSeconds: 3_600 });
    for (let begun = 0; begun < 4; begun += 1) {
      await vi.advanceTimersByTimeAsync(17);
      sleep(pod, stream, row.id);
    }
    await vi.advanceTimersByTimeAsync(1);
    pod.store.reads = 0;
    pod.store.times.clear();
    await vi.advanceTimersByTimeAsync(RECHECK_MS + 100);
    expect(pod.store.reads).toBeGreaterThanOrEqual(4);
    expect(pod.store.times.size).toBe(1);
  },
);

describe('a waiter whose deadline passes during an outage', () => {
  const TIMEOUT_MS = 60_000;

  async function waitIntoOutage() {
    const pod = openPod();
    const { stream, row } = await askOnStream(pod.engine, { timeoutSeconds: TIMEOUT_MS / 1_000 });
    const waiting = callOutcome(pod.engine.wait({ caller: serviceOf(stream), id: row.id }));
    const onEnd = vi.fn();
    void waiting.then(onEnd);
    await vi.advanceTimersByTimeAsync(10);
    pod.store.isAway = true;
    await vi.advanceTimersByTimeAsync(TIMEOUT_MS - 20);
    expect(onEnd).not.toHaveBeenCalled();
    return { ...pod, waiting, onEnd };
  }

  it('gets an error when the grace is over', async () => {
    const { waiting, onEnd } = await waitIntoOutage();
    await vi.advanceTimersByTimeAsync(GRACE_MS + 20);
    expect(onEnd).toHaveBeenCalled();
    expect(await waiting).toMatchObject({ refusal: { code: 'unavailable' } });
  });

  it('gets the end when the store is back within the grace', async () => {
    const { waiting, onEnd, store } = await waitIntoOutage();
    await vi.advanceTimersByTimeAsync(GRACE_MS / 2);
    store.isAway = false;
    await vi.advanceTimersByTimeAsync(GRACE_MS / 2 + 20);
    expect(onEnd).toHaveBeenCalled();
    expect(await waiting).toMatchObject({ value: { row: { status: 'expired' } } });
  });
});
