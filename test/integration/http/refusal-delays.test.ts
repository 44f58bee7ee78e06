import { setMaxListeners } from 'node:events';
import { ParleyError } from '@parley/core/domain/errors';
import type { Caller } from '@parley/shared/domain/caller';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createDrain } from '../../../services/api/src/http/life/drain.ts';
import {
  createRefusalDelays,
  type RefusalDelays,
} from '../../../services/api/src/http/limits/refusal-delays.ts';
import { route } from '../../../services/api/src/http/route.ts';
import { serveSurfaces } from '../../harness/turns/serve.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const FREE = 20;
const WAITING_OF_CALLER = 64;
const LONG_MS = 600_000;
const ADA: Caller = { kind: 'user', tenant: 'acme', userId: 'ada' };
const KEY: Caller = { kind: 'service', tenant: 'acme', keyId: 'k1' };

/** Refuses a caller so many times at once; returns how many of the refusals were sent by now. */
async function refuse(
  delays: RefusalDelays,
  caller: Caller,
  times: number,
  signal = ofTest.signal,
): Promise<number> {
  let sent = 0;
  for (let one = 0; one < times; one += 1) {
    void delays.wait(caller, signal).then(() => {
      sent += 1;
    });
  }
  await new Promise((resolve) => setImmediate(resolve));
  return sent;
}

/** Aborted after each test, so that no refusal waits on. */
let ofTest: AbortController;

beforeEach(() => {
  ofTest = new AbortController();
  // Each refusal that waits listens to it. In a pod every request has a signal of its own.
  setMaxListeners(0, ofTest.signal);
});
afterEach(() => {
  vi.useRealTimers();
  ofTest.abort();
});

describe('refusals of one caller', () => {
  it('are sent at once up to a number in ten seconds; later ones wait, and those of nobody else', async () => {
    const delays = createRefusalDelays({ delayMs: LONG_MS });
    expect(await refuse(delays, ADA, FREE)).toBe(FREE);
    expect(await refuse(delays, ADA, 5)).toBe(0);
    const others: Caller[] = [KEY, { ...ADA, tenant: 'umbrella' }, { ...KEY, keyId: 'k2' }];
    for (const other of others) expect(await refuse(delays, other, FREE)).toBe(FREE);
  });

  it('wait in a bounded number, for the connections that they hold', async () => {
    const delays = createRefusalDelays({ delayMs: LONG_MS });
    expect(await refuse(delays, ADA, FREE + WAITING_OF_CALLER)).toBe(FREE);
    expect(await refuse(delays, ADA, 5)).toBe(5);
  });

  it('are sent at once again when ten seconds have passed without one that waits', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const delays = createRefusalDelays({ delayMs: LONG_MS });
    const leaves = new AbortController();
    await refuse(delays, ADA, FREE);
    await refuse(delays, ADA, 1, leaves.signal);
    vi.advanceTimersByTime(10_001);
    expect(await refuse(delays, ADA, 1, leaves.signal)).toBe(0);
    leaves.abort();
    await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(10_001);
    expect(await refuse(delays, ADA, FREE)).toBe(FREE);
  });

  it('never wait where the delay is 0', async () => {
    const delays = createRefusalDelays({ delayMs: 0 });
    expect(await refuse(delays, ADA, 1_000)).toBe(1_000);
  });
});

describe('a request that is refused', () => {
  it('waits for its reply only where a budget refused it, and until the pod drains', async () => {
    // The ten seconds do not pass in the meantime.
    vi.useFakeTimers({ toFake: ['performance'] });
    const drain = createDrain();
    const call = (code: 'rate_limited' | 'not_found', path: string) =>
      route({
        method: 'GET',
        path,
        proof: { by: 'bearer', callers: ['user'] },
        limits: 'own',
        handle: async () => {
          throw new ParleyError(code, 'No.');
        },
      });
    const { url, close } = await serveSurfaces({
      surfaces: [{ routes: [call('rate_limited', '/limited'), call('not_found', '/missing')] }],
      authenticate: async () => ({ caller: ADA, expiresAtMs: Date.now() + LONG_MS }),
      limits: {
        call: async () => undefined,
        opening: async () => undefined,
        sent: async () => 0,
        body: async () => undefined,
      },
      refusalDelays: createRefusalDelays({ delayMs: LONG_MS }),
      drain,
    });
    onTestFinished(close);
    const replies = { '/limited': 0, '/missing': 0 };
    const send = async (path: keyof typeof replies) => {
      const { status } = await fetch(`${url}${path}`);
      replies[path] += 1;
      return status;
    };
    const limited = Array.from({ length: FREE + 3 }, () => send('/limited'));
    await waitUntil(() => replies['/limited'] === FREE, { what: 'the first refusals' });
    const missing = await Promise.all(Array.from({ length: FREE + 3 }, () => send('/missing')));
    expect(new Set(missing)).toEqual(new Set([404]));
    expect(replies['/limited']).toBe(FREE);
    drain.begin();
    expect(new Set(await Promise.all(limited))).toEqual(new Set([429]));
  });
});
