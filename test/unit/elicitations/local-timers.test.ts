import { createLocalTimers } from '@parley/shared/memory/timers';
import { describe, expect, it } from 'vitest';
import { waitUntil } from '../../harness/wait-until.ts';

const LIMIT = 1_000;

/** Timers whose calls end when the test ends them. */
function openTimers(timersMax = LIMIT) {
  const calls: { ids: readonly string[]; end: (early?: [string, number][]) => void; fail: () => void }[] = [];
  const timers = createLocalTimers({
    timersMax,
    onDue: (ids) =>
      new Promise((resolve, reject) => {
        calls.push({
          ids,
          end: (early = []) => resolve(new Map(early)),
          fail: () => reject(new Error('away')),
        });
      }),
  });
  const called = (count: number) => waitUntil(() => calls.length >= count, { what: 'a call', everyMs: 1 });
  const scheduleAll = (ids: readonly string[]) => {
    for (const id of ids) timers.schedule(id, 0);
  };
  /** Resolves after timers that were scheduled before it. */
  const fired = () => new Promise((resolve) => setTimeout(resolve, 5));
  return { timers, calls, called, scheduleAll, fired };
}

/** Timers with as many calls under way as there may be. */
async function busyTimers() {
  const open = openTimers();
  for (const [at, id] of ['el_first', 'el_second'].entries()) {
    open.timers.schedule(id, 0);
    await open.called(at + 1);
  }
  return open;
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `el_${index}`);

describe('the timers of a process', () => {
  it('give out together what comes due while two calls are under way, a hundred at a time', async () => {
    const { calls, called, scheduleAll, fired } = await busyTimers();
    const more = numbered(250);
    scheduleAll(more);
    await fired();
    expect(calls.map(({ ids }) => ids)).toEqual([['el_first'], ['el_second']]);
    calls[1]?.end();
    await called(3);
    calls[0]?.end();
    await called(4);
    calls[2]?.end();
    await called(5);
    for (const call of calls) call.end();
    const parts = [more.slice(0, 100), more.slice(100, 200), more.slice(200)];
    expect(calls.slice(2).map(({ ids }) => ids)).toEqual(parts);
  });

  it('fire again for what was too early, and not for what was cancelled in the meantime', async () => {
    const { timers, calls, called, fired } = openTimers();
    timers.schedule('el_early', 0);
    timers.schedule('el_kept', 60_000);
    await called(1);
    calls[0]?.end([['el_early', 1]]);
    await called(2);
    expect(calls[1]?.ids).toEqual(['el_early']);
    calls[1]?.end([['el_early', 2]]);
    await Promise.resolve();
    timers.cancel('el_kept');
    await called(3);
    calls[2]?.end();
    await fired();
    expect(calls).toHaveLength(3);
    timers.close();
  });

  it('do not give out what was cancelled while it waited for its call', async () => {
    const { timers, calls, called, scheduleAll, fired } = await busyTimers();
    scheduleAll(['el_settled', 'el_due']);
    await fired();
    timers.cancel('el_settled');
    calls[0]?.end();
    await called(3);
    expect(calls[2]?.ids).toEqual(['el_due']);
    for (const call of calls) call.end();
  });

  it('go on after a failed call, whose elicitations are left to others', async () => {
    const { timers, calls, called } = openTimers();
    timers.schedule('el_failed', 0);
    await called(1);
    calls[0]?.fail();
    timers.schedule('el_next', 0);
    await called(2);
    expect(calls.map(({ ids }) => ids)).toEqual([['el_failed'], ['el_next']]);
    calls[1]?.end();
  });

  it('give out nothing more once they are closed', async () => {
    const { timers, calls, scheduleAll, fired } = await busyTimers();
    scheduleAll(numbered(3));
    await fired();
    timers.schedule('el_later', 1);
    timers.close();
    calls[0]?.end([['el_first', 1]]);
    calls[1]?.end();
    await fired();
    expect(calls).toHaveLength(2);
  });

  it('are not more than their limit', async () => {
    const { timers, calls, called, scheduleAll, fired } = openTimers(2);
    scheduleAll(['el_1', 'el_2', 'el_3']);
    await called(1);
    await fired();
    for (const call of calls) call.end();
    // Whether they come due in the same turn of the event loop is up to the machine.
    expect(calls.flatMap(({ ids }) => ids)).toEqual(['el_1', 'el_2']);
    timers.close();
  });
});
