import { BUCKET_COUNT } from '@parley/core/domain/ids';
import { createDispatch } from '@parley/shared/delivery/dispatch';
import { startDispatching } from '@parley/shared/delivery/dispatch-loop';
import { createMemoryOutbox } from '@parley/shared/memory/outbox/outbox';
import type { DeliveryKind } from '@parley/shared/ports/delivery/kind';
import type { OutboxSignal, OutboxTask } from '@parley/shared/ports/delivery/outbox';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

const EVERY_MS = 1_000;
const A_MINUTE = 60_000;
const SECONDS = (count: number) => count * 1_000;

beforeEach(() => {
  vi.useFakeTimers();
  // Each pause has its mean, so that no look by chance falls into what is measured.
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  onTestFinished(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
});

/** A process that handles tasks, and the buckets that it looked at. `isDeaf`: it hears of none. */
function processOf({
  isDeaf = false,
  handle = async () => 'done',
}: {
  isDeaf?: boolean;
  handle?: DeliveryKind['handle'];
}) {
  const outbox = createMemoryOutbox();
  const looks: number[] = [];
  const passes = { count: 0 };
  let hear: (signal: OutboxSignal) => void = () => undefined;
  const heard = {
    ...outbox,
    take(...args: Parameters<typeof outbox.take>) {
      looks.push(args[0]);
      return outbox.take(...args);
    },
    occupied(...args: Parameters<typeof outbox.occupied>) {
      passes.count += 1;
      return outbox.occupied(...args);
    },
    ...(isDeaf && {
      watch(listener: typeof hear) {
        hear = listener;
        return () => undefined;
      },
    }),
  };
  const handled: string[] = [];
  const kinds: DeliveryKind[] = [
    {
      name: 'letter',
      // With a free place left, no round waits for one.
      places: 4,
      handle(task, attempt) {
        handled.push(task.subject);
        return handle(task, attempt);
      },
    },
  ];
  const dispatch = createDispatch({ outbox: heard, kinds, onFault: () => undefined });
  const faults: unknown[] = [];
  const loop = startDispatching({
    outbox: heard,
    dispatch,
    everyMs: EVERY_MS,
    onError: (fault) => faults.push(fault),
  });
  onTestFinished(() => loop.stop());
  return {
    outbox,
    looks,
    /** Backup passes over all buckets. */
    passes,
    handled,
    loop,
    faults,
    /** It may have missed messages of each bucket. */
    resync() {
      for (let bucket = 0; bucket < BUCKET_COUNT; bucket += 1) hear({ type: 'resync', bucket });
    },
    pass: (ms: number) => vi.advanceTimersByTimeAsync(ms),
  };
}

const letter = (subject: string, bucket = 7): OutboxTask => ({ kind: 'letter', subject, bucket });

describe('a process that handles the tasks of an outbox', () => {
  it('looks through the buckets ever more seldom while there is nothing, and into none of them', async () => {
    const { looks, passes, pass } = processOf({});
    await pass(10 * A_MINUTE);
    // After 1, 3, 7 and 15 s, and then every 16 s.
    expect(passes.count).toBe(4 + 36);
    expect(looks).toEqual([]);
  });

  it('looks at one bucket only when a task is noted there, and soon', async () => {
    const { outbox, looks, handled, pass } = processOf({});
    await pass(A_MINUTE);
    looks.length = 0;
    await outbox.add(letter('one'));
    await outbox.add(letter('two'));
    await pass(500);
    expect(new Set(looks)).toEqual(new Set([7]));
    expect(handled).toEqual(['one', 'two']);
  });

  it.each([
    { what: 'put off', handle: async () => ({ deferInMs: SECONDS(30) }) as const },
    { what: 'to be tried again', handle: async () => ({ retryInMs: SECONDS(30) }) as const },
  ])('handles a task that is $what at its time', async ({ handle }) => {
    const { outbox, handled, pass } = processOf({ handle });
    await pass(A_MINUTE);
    await outbox.add(letter('one'));
    await pass(SECONDS(29));
    expect(handled).toHaveLength(1);
    await pass(SECONDS(2));
    expect(handled).toHaveLength(2);
  });

  it('handles the task of a process that died as soon as its lease has lapsed', async () => {
    const { outbox, handled, pass } = processOf({});
    await pass(A_MINUTE);
    await outbox.add(letter('one'));
    await outbox.takeOne(letter('one'), SECONDS(5));
    await pass(SECONDS(4.9));
    expect(handled).toEqual([]);
    await pass(200);
    expect(handled).toEqual(['one']);
  });

  it('finds what it has not heard of, and then looks as often as at the beginning', async () => {
    const { outbox, passes, handled, pass } = processOf({ isDeaf: true });
    await pass(A_MINUTE);
    await outbox.add(letter('one'));
    // A pause is at most 16 times as long as at the beginning.
    for (let passed = 0; handled.length === 0 && passed < 16; passed += 1) await pass(SECONDS(1));
    expect(handled).toEqual(['one']);
    passes.count = 0;
    await pass(SECONDS(4));
    expect(passes.count).toBe(2);
  });

  it('handles what was put off before it was connected at its time, and looks at each bucket once for that', async () => {
    const { outbox, looks, handled, resync, pass } = processOf({ isDeaf: true });
    await pass(A_MINUTE);
    outbox.note(letter('one'), { afterMs: SECONDS(30) });
    looks.length = 0;
    resync();
    await pass(10);
    expect(looks).toHaveLength(BUCKET_COUNT);
    await pass(SECONDS(29.9));
    expect(handled).toEqual([]);
    await pass(100);
    expect(handled).toEqual(['one']);
  });

  it('looks at all buckets at once when it is told to, and at none once it has ended', async () => {
    const { outbox, looks, handled, loop, pass } = processOf({ isDeaf: true });
    await pass(A_MINUTE);
    await outbox.add(letter('one'));
    loop.nudge();
    await pass(0);
    expect(handled).toEqual(['one']);
    await loop.stop();
    looks.length = 0;
    await outbox.add(letter('two'));
    await pass(A_MINUTE);
    expect([looks, vi.getTimerCount()]).toEqual([[], 0]);
  });

  it('repeats a round that failed', async () => {
    const { outbox, handled, faults, pass } = processOf({});
    const { take } = outbox;
    let isAway = true;
    vi.spyOn(outbox, 'take').mockImplementation((...args) =>
      isAway ? Promise.reject(new Error('away')) : take(...args),
    );
    await outbox.add(letter('one'));
    await pass(500);
    expect([faults.length > 0, handled]).toEqual([true, []]);
    isAway = false;
    await pass(2 * EVERY_MS);
    expect(handled).toEqual(['one']);
  });
});
