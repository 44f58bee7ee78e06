import { setTimeout as sleep } from 'node:timers/promises';
import { isParleyError } from '@parley/core/domain/errors';
import type { Heartbeats } from '../ports/runs/heartbeats.ts';

/** How often a pod renews its lease, and how long one renewal lasts, in ms. */
export interface LeaseTiming {
  readonly renewMs: number;
  /** Several times `renewMs`, so that a pod does not lose its runs by one slow moment. */
  readonly leaseMs: number;
}

// This is several times what a live pod needs to reconnect to a working Redis.
const RECONNECT_MS = 400;

export const LEASE_TIMING: LeaseTiming = { renewMs: 5_000, leaseMs: 20_000 };

/** The lease of one pod on all runs that it owns. */
export interface Lease {
  /** Renews now. Throws `unavailable` when Redis does not confirm it. */
  renew(): Promise<void>;
  /**
   * True when another owner's lease has lapsed although Redis was available for renewals, or when Redis noticed earlier that
   * the owner's pod died. After an outage all leases have lapsed, so pods first get time to renew.
   */
  hasLapsed(owner: string): Promise<boolean>;
  /** Ends the renewals. The lease lapses by itself. */
  stop(): void;
}

/** Starts to renew the lease of `owner`. `onRenewed` is called after each confirmed renewal. */
export function startLease(
  heartbeats: Pick<Heartbeats, 'beat' | 'alive' | 'connected'>,
  owner: string,
  { renewMs, leaseMs }: LeaseTiming,
  onRenewed: () => void,
): Lease {
  let failing = false;
  let trustedFrom = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  async function renew(): Promise<void> {
    try {
      await heartbeats.beat(owner, leaseMs);
      if (failing) trustedFrom = performance.now() + 2 * renewMs;
      failing = false;
    } catch (error) {
      failing = true;
      throw error;
    }
  }

  /** After a failure, the next renewal comes sooner, because the lease may lapse. */
  async function renewRegularly(): Promise<void> {
    const renewed = await renew().then(
      () => true,
      (error: unknown) => !isParleyError(error, 'unavailable'),
    );
    if (stopped) return;
    timer = setTimeout(() => void renewRegularly(), renewed ? renewMs : renewMs / 5).unref();
    if (renewed) onRenewed();
  }

  async function isDisconnected(other: string): Promise<boolean> {
    if (await heartbeats.connected(other)) return false;
    await sleep(RECONNECT_MS, undefined, { ref: false });
    return !(await heartbeats.connected(other));
  }

  void renewRegularly();
  return {
    renew,
    async hasLapsed(other) {
      if (failing || performance.now() < trustedFrom) return false;
      const isGone = !(await heartbeats.alive(other)) || (await isDisconnected(other));
      return isGone && !failing;
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
