import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { paced } from './pace.ts';

/**
 * `what` names the awaited thing in the error; times are milliseconds, on a machine as fast as the reference. `everyMs`: the pause
 * between two calls. Where it is not given, it grows with the time that has passed, since each call may read a page or a server.
 */
export type WaitOptions = { what: string; timeoutMs?: number; everyMs?: number };

/** The bounds of a pause that grows. */
const PAUSE_MS = { least: 25, most: 200 } as const;
/** By how much a wait may become longer because of its last pause. */
const LATE_SHARE = 1 / 8;

type Attempt<T> = { value: T } | { error: unknown };

/**
 * Calls `cond` repeatedly until it gives a truthy value, and returns that value.
 * A throw counts as "not yet". Rejects after `timeoutMs` (30 s unless given), longer on a slow machine, with what was
 * awaited and the last value or error seen; a `cond` that never settles is cut off by the same time.
 */
export async function waitUntil<T>(
  cond: () => T | Promise<T>,
  { what, timeoutMs: referenceMs = 30_000, everyMs }: WaitOptions,
): Promise<Exclude<T, false | 0 | '' | null | undefined>> {
  const timeoutMs = paced(referenceMs);
  const began = performance.now();
  const deadline = began + timeoutMs;
  let last = 'nothing yet';
  for (;;) {
    const left = deadline - performance.now();
    const seen = await attempt(cond, Math.max(left, 1));
    if (seen === 'pending')
      throw new Error(`timed out after ${timeoutMs} ms waiting for ${what}; last: ${last}`);
    if ('value' in seen && seen.value) return seen.value as Exclude<T, false | 0 | '' | null | undefined>;
    last = 'value' in seen ? brief(seen.value) : String(seen.error);
    const passed = performance.now() - began;
    const pauseMs = everyMs ?? Math.min(PAUSE_MS.most, Math.max(PAUSE_MS.least, passed * LATE_SHARE));
    if (passed + pauseMs > timeoutMs) {
      throw new Error(`timed out after ${timeoutMs} ms waiting for ${what}; last: ${last}`);
    }
    await sleep(pauseMs);
  }
}

/** Waits for a later millisecond of the clock. Records of the same millisecond are in no order of their own. */
export const nextMillisecond = () => sleep(2);

async function attempt<T>(cond: () => T | Promise<T>, withinMs: number): Promise<Attempt<T> | 'pending'> {
  const stop = new AbortController();
  const asked = (async (): Promise<Attempt<T>> => {
    try {
      return { value: await cond() };
    } catch (error) {
      return { error };
    }
  })();
  try {
    return await Promise.race([asked, sleep(withinMs, 'pending' as const, { signal: stop.signal })]);
  } finally {
    stop.abort();
  }
}

function brief(value: unknown): string {
  return inspect(value, { depth: 4, breakLength: Number.POSITIVE_INFINITY }).slice(0, 500);
}
