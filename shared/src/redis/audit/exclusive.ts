import { randomUUID } from 'node:crypto';
import type { RunExclusively } from '../../ports/elicitations/audit.ts';
import type { Commands } from '../client/connect.ts';
import { auditDoneKey, auditLeaseKey } from '../client/keys.ts';
import { loadScript } from '../client/script.ts';
import { orUnavailable } from '../client/unavailable.ts';

const LEASE_MS = 60_000;
const RENEWALS = 3;

interface ExclusiveOptions {
  /** How long the work stays reserved for a worker that died, in ms. */
  readonly leaseMs?: number;
  readonly onError?: (error: unknown) => void;
}

/** Reserves work for one worker at a time, by a lease that it renews while it works. */
export function createExclusive(
  redis: Commands,
  { leaseMs = LEASE_MS, onError }: ExclusiveOptions = {},
): RunExclusively {
  const claimScript = loadScript(redis, 'client/claim', onError);
  const releaseScript = loadScript(redis, 'client/release', onError);
  const run = <T>(command: () => Promise<T>) => orUnavailable(command, onError);

  async function keepLease(key: string, holder: string, lost: AbortController): Promise<void> {
    const isHeld = await claimScript([key], [holder, leaseMs]).then(
      (value) => value === holder,
      () => false,
    );
    if (!isHeld) lost.abort(new Error('The lease of this work is lost; another worker may do it.'));
  }

  return async ({ name, everyMs, signal }, work) => {
    const [lease, done] = [auditLeaseKey(name), auditDoneKey(name)];
    const holder = randomUUID();
    if ((await claimScript([lease], [holder, leaseMs])) !== holder) return undefined;
    const lost = new AbortController();
    const renewing = setInterval(() => void keepLease(lease, holder, lost), leaseMs / RENEWALS);
    try {
      if ((await run(() => redis.exists(done))) === 1) return undefined;
      const result = await work(AbortSignal.any([signal, lost.signal]));
      if (everyMs > 0) await run(() => redis.set(done, '1', 'PX', everyMs));
      return result;
    } finally {
      clearInterval(renewing);
      await releaseScript([lease], [holder]).catch(() => undefined);
    }
  };
}
