import { startWorkClock } from '@parley/shared/async/work-clock';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A wait that lasts until `end` is called. */
function wait() {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { end, run: () => ended };
}

it('expires after its working time', async () => {
  const clock = startWorkClock(1_000);
  await vi.advanceTimersByTimeAsync(999);
  expect(clock.over.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(clock.over.aborted).toBe(true);
});

it('pauses while at least one call waits, and then continues', async () => {
  const clock = startWorkClock(1_000);
  await vi.advanceTimersByTimeAsync(600);
  const [one, other] = [wait(), wait()];
  const waits = [clock.waiting(one.run), clock.waiting(other.run)];
  await vi.advanceTimersByTimeAsync(60_000);
  one.end();
  await vi.advanceTimersByTimeAsync(60_000);
  expect([clock.isWaiting, clock.over.aborted]).toEqual([true, false]);
  other.end();
  await Promise.all(waits);
  await vi.advanceTimersByTimeAsync(399);
  expect([clock.isWaiting, clock.over.aborted]).toEqual([false, false]);
  await vi.advanceTimersByTimeAsync(1);
  expect(clock.over.aborted).toBe(true);
});

it('pauses while a nested clock pauses', async () => {
  const outer = startWorkClock(1_000);
  const inner = startWorkClock(5_000, 0, startWorkClock(5_000, 0, outer));
  const { end, run } = wait();
  const waiting = inner.waiting(run);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([outer.isWaiting, outer.over.aborted, inner.over.aborted]).toEqual([true, false, false]);
  end();
  await waiting;
  await vi.advanceTimersByTimeAsync(1_000);
  expect([outer.over.aborted, inner.over.aborted]).toEqual([true, false]);
});

it('does not start again after a stop', async () => {
  const clock = startWorkClock(1_000);
  const { end, run } = wait();
  const waiting = clock.waiting(run);
  clock.stop();
  end();
  await waiting;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(clock.over.aborted).toBe(false);
});
