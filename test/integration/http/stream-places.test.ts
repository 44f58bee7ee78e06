import type { Owner } from '@parley/core/domain/ids';
import { createMemoryLimits } from '@parley/shared/memory/limits';
import { describe, expect, it } from 'vitest';
import {
  inStreamPlace,
  type StreamPlace,
  type StreamReader,
} from '../../../services/api/src/http/limits/stream-places.ts';
import { newOwner } from '../../harness/engines/questions.ts';
import { callLimitsOn } from '../../harness/http/call-limits.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const PLACES = 2;
const RENEW_MS = 20;

/** Two pods with the same limits, whose leases last. */
function twoPods(limits = createMemoryLimits()) {
  const user: Owner = newOwner();
  const podNamed = (owner: string) => {
    const holder = { owner, hasLapsed: async () => false };
    const pod = callLimitsOn(limits, { userStreams: PLACES }, { holder, renewMs: RENEW_MS });
    const opened: StreamPlace[] = [];
    return {
      async read(reader: Partial<StreamReader> = {}): Promise<StreamPlace> {
        const call = { caller: { kind: 'user', ...user } as const, whenOver: () => undefined };
        const whole = { stream: 'inbox', returns: false, ...reader };
        const place = await inStreamPlace(pod, call, whole, async (open) => open);
        opened.push(place);
        return place;
      },
    };
  };
  return { first: podNamed('pod-1/a'), second: podNamed('pod-2/b') };
}

const TOO_MANY = { code: 'rate_limited', retryAfterSeconds: expect.any(Number) };

describe('the stream places of a user', () => {
  it('include that of a reader which comes back: it takes its own again, and no place of another stream', async () => {
    const { first, second } = twoPods();
    const mine = { stream: 'chat/mine', returns: true };
    const before = await first.read({ ...mine, returns: false });
    const other = await first.read({ stream: 'chat/other' });
    await expect(second.read({ stream: 'chat/third', returns: true })).rejects.toMatchObject(TOO_MANY);
    await expect(second.read({ ...mine, returns: false })).rejects.toMatchObject(TOO_MANY);
    const after = await second.read(mine);
    // The earlier connection has no place any more, and ends if it still exists.
    await waitUntil(async () => before.signal.aborted, { what: 'the earlier connection to end' });
    expect([after.signal.aborted, other.signal.aborted]).toEqual([false, false]);
  });

  it('are renewed together, however many a pod has', async () => {
    const limits = createMemoryLimits();
    const rounds: number[] = [];
    const renew: typeof limits.renew = (limit, held, ttlMs) => {
      rounds.push(held.length);
      return limits.renew(limit, held, ttlMs);
    };
    const { first } = twoPods({ ...limits, renew });
    const [one] = await Promise.all([first.read(), first.read()]);
    await waitUntil(() => rounds.length >= 3, { what: 'three rounds' });
    one.release();
    await waitUntil(() => rounds.at(-1) === 1, { what: 'a round without the place that was released' });
    expect(rounds.slice(0, 3)).toEqual([2, 2, 2]);
    expect(one.signal.aborted).toBe(false);
  });

  it('are not taken from a reader while others are free', async () => {
    const { first, second } = twoPods();
    const mine = { stream: 'chat/mine', returns: true };
    const before = await first.read(mine);
    const after = await second.read(mine);
    await expect(second.read({ stream: 'chat/other' })).rejects.toMatchObject(TOO_MANY);
    after.release();
    await second.read({ stream: 'chat/other' });
    expect(before.signal.aborted).toBe(false);
  });
});
