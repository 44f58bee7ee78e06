import { ParleyError } from '@parley/core/domain/errors';
import type { Owner } from '@parley/core/domain/ids';
import type { AskedKey } from './elicitations/elicitations.ts';

/** Names of a part of what is stored for a person. */
export interface StoredPart {
  readonly elicitationIds: readonly string[];
  /** Stream requests of questions. */
  readonly streamRequestIds: readonly string[];
  /** Stream requests of turns. */
  readonly turnIds: readonly string[];
  readonly conversationIds: readonly string[];
  /** Idempotency keys of the person's questions. */
  readonly idempotencyKeys: readonly AskedKey[];
}

/**
 * Finds and removes what is stored for one person. Every call is bounded and can be repeated. Every call throws
 * `unavailable`.
 */
export interface Erasure {
  /**
   * For `forMs` from now, whatever would store something new for the person is refused with `user_erased`: questions,
   * turns and entries of the hosted pages. What exists may still change. A later call extends the time.
   */
  fence(owner: Owner, forMs: number): Promise<void>;
  /** The stream requests of all turns that are stored, in pages. Those that end or begin during the walk may be missing. */
  turns(owner: Owner): AsyncIterable<readonly string[]>;
  /** Some of what is stored; all lists are empty when nothing is left. */
  next(owner: Owner): Promise<StoredPart>;
  /**
   * Removes a part from everything that lies with the person's data; quotas count it no longer. No write of a removed turn
   * has an effect.
   */
  remove(owner: Owner, part: StoredPart): Promise<void>;
  /** Removes the counters of the person's chats, once nothing is left that they count. */
  removeCounters(owner: Owner): Promise<void>;
}

/** The error of a call that would store something for a person who was erased `retryInMs` too recently. */
export function userErased(retryInMs: number): ParleyError {
  return new ParleyError(
    'user_erased',
    'This user was erased a moment ago. Something new can be stored after the time in Retry-After.',
    { retryAfterSeconds: Math.max(1, Math.ceil(retryInMs / 1000)) },
  );
}
