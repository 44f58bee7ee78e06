import type { Owner } from '@parley/core/domain/ids';

/** A rate limit: at most `points` per window of `windowSeconds`. */
export interface Rate {
  readonly points: number;
  readonly windowSeconds: number;
  /**
   * The number of points that a pod takes in advance, so that most calls need no round trip. Points that are unused at the end
   * of the window are lost. A 500th of the budget when absent.
   */
  readonly batch?: number;
}

export type LimitVerdict =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly retryAfterSeconds: number };

/** A place under a limit, and its subject. */
export interface HeldPlace {
  readonly subject: Owner;
  readonly place: string;
}

/** Limits that all pods enforce together. */
export interface Limits {
  /**
   * Takes `points` of the subject's budget under `limit`, by default one; 0 only asks. A call is allowed while any points are
   * left, so one that takes several may overspend.
   */
  take(limit: string, subject: Owner, rate: Rate, points?: number): Promise<LimitVerdict>;
  /** True when this process already knows that the budget is used up until its window ends. Makes no call. */
  isUsedUp(limit: string, subject: Owner): boolean;
  /** Occupies or renews one of `max` places for `ttlMs`. False when all are occupied. */
  hold(limit: string, place: HeldPlace, max: number, ttlMs: number): Promise<boolean>;
  /**
   * Renews occupied places for `ttlMs`, many in one call. Returns for each, in the given order, whether it still existed;
   * undefined for a place whose server could not be reached.
   */
  renew(limit: string, held: readonly HeldPlace[], ttlMs: number): Promise<readonly (boolean | undefined)[]>;
  /** The occupied places under `limit`, in the order in which their leases end. */
  places(limit: string, subject: Owner): Promise<readonly string[]>;
  /** Removes a budget or the places under `limit`. */
  reset(limit: string, subject: Owner): Promise<void>;
  /** Frees a place, best effort. */
  release(limit: string, subject: Owner, place: string): Promise<void>;
}
