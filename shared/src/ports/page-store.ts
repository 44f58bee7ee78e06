import type { Owner } from '@parley/core/domain/ids';

/**
 * The kinds of state that hosted pages keep between two requests of a browser. `session`: the signed-in person. `operator`: the
 * operator who signed in to the console. `operator-seen`: exists while a page of that operator is open. `sign-in`: a sign-in in
 * progress. `flow`: an authorization in progress, by its OAuth state. `report`: an authorization whose provider reports by
 * webhook. `waiting`: the report for which a browser waits. `binding`: waits until the deployer's backend says whose browser it
 * was. `blocked`: an address with too many failures. `outside-link`: the account of another service for which a link was made.
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
  /** True once `take` has returned the entry. */
  readonly taken: boolean;
}

/** Entries that expire, shared by all pods. Every method throws `unavailable`. */
export interface PageStore {
  /**
   * Stores `value` for `ttlMs` and replaces an earlier entry. If the entry concerns a person, `owners` names the person in each
   * tenant; after an erasure of that person, throws `user_erased`.
   */
  put(name: PageEntryName, value: string, ttlMs: number, ...owners: readonly Owner[]): Promise<void>;
  /** Undefined when there is no entry. A taken entry can be read until it expires. */
  read(name: PageEntryName): Promise<PageEntry | undefined>;
  /** Returns the value to the first taker, and again to the same taker. Undefined for all others. */
  take(name: PageEntryName, taker: string): Promise<string | undefined>;
  drop(name: PageEntryName): Promise<void>;
  /** Removes all entries that concern a person, and returns their number. */
  dropOf(owner: Owner): Promise<number>;
}
