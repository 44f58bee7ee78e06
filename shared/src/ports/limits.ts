import type { Owner } from '../domain/ids.ts';

/** At most `points` in every window of `windowSeconds`. */
export interface Rate {
  readonly points: number;
  readonly windowSeconds: number;
}

export type LimitVerdict =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly retryAfterSeconds: number };

/** Budgets kept over all pods. */
export interface Limits {
  /** Takes one point from the budget named by `subject` within `limit`. */
  take(limit: string, subject: Owner, rate: Rate): Promise<LimitVerdict>;
  /** Takes or renews one of `max` places for `ttlMs`; false when all are taken. */
  hold(limit: string, subject: Owner, place: string, max: number, ttlMs: number): Promise<boolean>;
  /** Gives a place back, best effort. */
  release(limit: string, subject: Owner, place: string): Promise<void>;
}
