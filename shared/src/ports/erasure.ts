import { ParleyError } from '@parley/core/domain/errors';
import type { Owner } from '@parley/core/domain/ids';
import type { AskedKey } from './elicitations/elicitations.ts';

/** A part of the data that is stored for a person, by names. */
export interface StoredPart {
  readonly elicitationIds: readonly string[];
  /** The stream requests of questions. */
  readonly streamRequestIds: readonly string[];
  /** The stream requests of turns. */
  readonly turnIds: readonly string[];
  readonly conversationIds: readonly string[];
  /** The idempotency keys of the person's questions. */
  readonly idempotencyKeys: readonly AskedKey[];
}

/**
 * Finds and removes the data that is stored for one person. Every call does a limited amount of work, can be repeated, and
 * throws `unavailable`.
 */
export interface Erasure {
  /**
   * For `forMs` from now, storing anything new for the person is refused with `user_erased`: questions, turns and entries of
   * hosted pages. Existing data may still change. A later call extends the time.
   */
  fence(owner: Owner, forMs: number): Promise<void>;
  /** The stream requests of all stored turns, in pages. Turns that begin or end during the iteration may be missing. */
  turns(owner: Owner): AsyncIterable<readonly string[]>;
  /** A part of the stored data; all its lists are empty when nothing is left. */
  next(owner: Owner): Promise<StoredPart>;
  /**
   * Removes a part from everything that is stored with the person's data, and from the quota counters. Later writes of a
   * removed turn have no effect.
   */
  remove(owner: Owner, part: StoredPart): Promise<void>;
  /** Removes the quota counters of the person's chats, after everything that they count has been removed. */
  removeCounters(owner: Owner): Promise<void>;
}

/** The error of a call that would store something for a recently erased person. The call may succeed after `retryInMs`. */
export function userErased(retryInMs: number): ParleyError {
  return new ParleyError(
    'user_erased',
    'This user was erased a moment ago. Something new can be stored after the time in Retry-After.',
    { retryAfterSeconds: Math.max(1, Math.ceil(retryInMs / 1000)) },
  );
}
