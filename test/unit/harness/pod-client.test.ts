import { afterEach, expect, it, vi } from 'vitest';
import { COMMAND_TIMEOUT_MS, createTimedCalls, type Reply } from '../../harness/site/pod-client.ts';

afterEach(() => vi.useRealTimers());

it('a 503 is late where the pod waited in vain for Redis, and until a call succeeds again', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const timed = createTimedCalls();
  const isLate = async (status: number, tookMs: number, code?: string) => {
    const reply: Reply = { status, code, retryAfter: undefined, replayed: false, body: {} };
    const call = async () => {
      vi.advanceTimersByTime(tookMs);
      return reply;
    };
    return (await timed(call)).isLate;
  };
  expect(await isLate(503, 10, 'unavailable')).toBe(false);
  expect(await isLate(503, COMMAND_TIMEOUT_MS, 'pod_busy')).toBe(false);
  expect(await isLate(503, COMMAND_TIMEOUT_MS, 'unavailable')).toBe(true);
  expect(await isLate(503, 10, 'unavailable')).toBe(true);
  expect(await isLate(201, 10)).toBe(false);
  expect(await isLate(503, 10, 'unavailable')).toBe(false);
});
