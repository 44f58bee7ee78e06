import type { Owner } from '@parley/core/domain/ids';

/**
 * Kinds of state that the hosted pages keep between two requests of a browser. `session`: the signed-in person. `operator`: the operator who
 * signed in to the console. `operator-seen`: there while a page of that operator is open. `sign-
 * in`: a sign-in under way. `flow`: an authorization under way, by its OAuth state. `report`: an authorization whose
 * provider reports by webhook. `waiting`: the report for which a browser waits. `binding`: waits until the deployer's
 * backend says whose browser it was. `blocked`: an address with too many failures. `outside-link`: the account of another
 * service that a link stands for.
 */
type PageFamily =
  | 'session'
  | 'operator'
  | 'operator-seen'
  | 'sign-in'
  | 'flow'
  | 'report'
  | 'waiting'
  | 'binding'
  | 'blocked'
  | 'answer-link'
  | 'answer-browser'
  | 'outside-link';

/** The name of an entry. `id` may be a bearer secret, so the store keeps only a hash of it. */
export interface PageEntryName {
  readonly family: PageFamily;
  readonly id: string;
}

interface PageEntry {
  readonly value: string;
  /** True once `take` returned it. */
  readonly taken: boolean;
}

/** Entries that expire, shared by all pods. Every call throws `unavailable` while the store is unavailable. */
export interface PageStore {
  /**
   * Stores `value` for `ttlMs`. Replaces an earlier entry. An entry that is about a person names them, in each tenant that it
   * concerns; it is refused with `user_erased` after an erasure of that person there.
   */
  put(name: PageEntryName, value: string, ttlMs: number, ...owners: readonly Owner[]): Promise<void>;
  /** Undefined when there is none. An entry that was taken can still be read until it expires. */
  read(name: PageEntryName): Promise<PageEntry | undefined>;
  /** Returns the value to the first taker, and to the same taker again. Undefined for every other one. */
  take(name: PageEntryName, taker: string): Promise<string | undefined>;
  drop(name: PageEntryName): Promise<void>;
  /** Removes all entries of a person. Returns how many there were. */
  dropOf(owner: Owner): Promise<number>;
}
