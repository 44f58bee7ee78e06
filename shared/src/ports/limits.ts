import type { Owner } from '@parley/core/domain/ids';

/** A rate limit: at most `points` per window of `windowSeconds`. */
export interface Rate {
  readonly points: number;
  readonly windowSeconds: number;
  /**
   * Points that a pod takes ahead, so that most calls cost no round trip; the unused rest is lost at the end of the
   * window. A 500th of the budget when absent.
   */
  readonly batch?: number;
}

export type LimitVerdict =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly retryAfterSeconds: number };

/** A place under a limit, and whose it is. */
export interface HeldPlace {
  readonly subject: Owner;
  readonly place: string;
}

/** Limits that apply to all pods together. */
export interface Limits {
  /**
   * Takes points of the subject's budget under `limit`; one unless given, and with 0 it only asks. Allowed while any are
   * left: a call that takes several may overspend.
   */
  take(limit: string, subject: Owner, rate: Rate, points?: number): Promise<LimitVerdict>;
  /** True where this process knows, without asking, that nothing of a budget is left before its window ends. */
  isUsedUp(limit: string, subject: Owner): boolean;
  /** Occupies or renews one of `max` places for `ttlMs`. False when all are occupied. */
  hold(limit: string, place: HeldPlace, max: number, ttlMs: number): Promise<boolean>;
  /**
   * Renews occupied places for `ttlMs`, many in one call. Returns for each, in their order, whether it was still there;
   * nothing for a place that could not be reached.
   */
  renew(limit: string, held: readonly HeldPlace[], ttlMs: number): Promise<readonly (boolean | undefined)[]>;
  /** The occupied places under `limit`, the one whose lease ends first at the front. */
  places(limit: string, subject: Owner): Promise<readonly string[]>;
  /** Removes a budget or the places under `limit`. */
  reset(limit: string, subject: Owner): Promise<void>;
  /** Frees a place, best effort. */
  release(limit: string, subject: Owner, place: string): Promise<void>;
}
