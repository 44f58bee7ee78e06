import { setTimeout as sleep } from 'node:timers/promises';
import { isParleyError } from '@parley/core/domain/errors';
import type { Heartbeats } from '../ports/runs/heartbeats.ts';

/** How often a pod renews its lease, and how long one renewal lasts, in ms. */
export interface LeaseTiming {
  readonly renewMs: number;
  /** Several times `renewMs`, so that a pod that was slow for a moment does not lose its runs. */
  readonly leaseMs: number;
}

// Several times what a living pod takes to reconnect to a Redis that works.
const RECONNECT_MS = 400;

export const LEASE_TIMING: LeaseTiming = { renewMs: 5_000, leaseMs: 20_000 };

/** The lease of one pod on all runs that it owns. */
export interface Lease {
  /** Renews now. Throws `unavailable` when Redis does not confirm it. */
  renew(): Promise<void>;
  /**
   * True when another owner's lease has lapsed although it could have been renewed, or its pod has died, which Redis
   * notices before. After an outage every lease has lapsed, so each pod first gets the time to renew.
   */
  hasLapsed(owner: string): Promise<boolean>;
  /** Ends the renewals. The lease lapses by itself. */
  stop(): void;
}

/** Starts to renew the lease of `owner`. `onRenewed` runs after each confirmed renewal. */
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

  /** Renews sooner after a failure: the lease may lapse. */
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
