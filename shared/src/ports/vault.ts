import type { Owner } from '@parley/core/domain/ids';
import type { CredentialRef } from '../domain/credential.ts';
import type { SealedKindsOf, SealedStore } from './sealed.ts';

/** `reconnect_required`: the provider refuses the credential, and only the person can obtain another one. */
export type CredentialState = 'usable' | 'reconnect_required';

/** A stored credential. Its content is sealed; its version and state are not. */
export interface StoredCredential {
  readonly sealed: string;
  /** Rises with every write, even after a removal, so that two credentials never have the same version. */
  readonly version: number;
  readonly state: CredentialState;
  /** When it was written, in ms on the store's clock. */
  readonly savedAt: number;
  /** When it was read, on the same clock. */
  readonly now: number;
}

/** One attempt to obtain a credential by a connector, from the consent page to a usable credential. */
export interface FlowRef extends CredentialRef {
  readonly flowId: string;
}

/** A flow with a staged credential. */
export interface StagedFlow extends FlowRef {
  /** Ms on the store's clock. */
  readonly stagedAt: number;
}

/** Leases over all pods: only the holder of a credential's lease may refresh the credential. */
export interface Leases {
  /**
   * Gives `holder` the credential's lease for `ttlMs`, unless another holder has it. True when `holder` has it now. A
   * lease that is not released lapses.
   */
  lease(ref: CredentialRef, holder: string, ttlMs: number): Promise<boolean>;
  /** Ends the lease if `holder` still has it. The lease of another holder does not change. */
  release(ref: CredentialRef, holder: string): Promise<void>;
}

/**
 * Stores sealed credentials. The store never has a key or a credential in the clear. Each write is one atomic step. A
 * write that is sent twice, as happens after a reconnect, takes effect once. `listOf` has what `scan` returned, also when an
 * earlier version stored it.
 */
export interface VaultStore extends Leases, SealedStore<SealedKindsOf<'vault'>> {
  /** The store's clock, in ms since 1970. */
  now(owner: Owner): Promise<number>;
  /** The stored credential, usable or not. Undefined when there is none. */
  read(ref: CredentialRef): Promise<StoredCredential | undefined>;
  /**
   * Writes a credential and makes it usable. With `expectedVersion`, only if that is the stored version (0: none is
   * stored). Returns the new version, or undefined when another version was stored.
   */
  write(ref: CredentialRef, sealed: string, expectedVersion?: number): Promise<number | undefined>;
  /** Sets `reconnect_required` on this version, which does not change. False when it is not the stored version. */
  markReconnect(ref: CredentialRef, version: number): Promise<boolean>;
  /** Removes this version. True when none is stored afterwards, false when another version is. */
  remove(ref: CredentialRef, version: number): Promise<boolean>;

  /** Stages a flow's credential for `ttlMs`, and lists the flow for `stale`. Replaces what the flow staged before. */
  stage(flow: FlowRef, sealed: string, ttlMs: number): Promise<void>;
  /** The sealed credential that the flow has staged. */
  readStaged(flow: FlowRef): Promise<string | undefined>;
  /**
   * In one step: removes `staged` from the flow, and writes `sealed` as the usable credential in place of any other.
   * Returns its version. When the flow was promoted before and its credential not replaced since, returns the stored
   * version. Returns `changed` when something else is staged, otherwise undefined.
   */
  promote(flow: FlowRef, staged: string | undefined, sealed: string): Promise<number | 'changed' | undefined>;
  /** Removes what the flow has staged. False when nothing is staged because the flow was promoted. */
  drop(flow: FlowRef): Promise<boolean>;
  /**
   * Flows of one bucket that were staged at least `olderThanMs` ago, and neither promoted nor dropped since: oldest
   * first, without the first `skip`. The staged credential may have expired.
   */
  stale(bucket: number, olderThanMs: number, limit: number, skip?: number): Promise<StagedFlow[]>;

  /** Every record of a person: the usable credentials, and what flows have staged. */
  listOf(owner: Owner): Promise<{
    readonly credentials: readonly CredentialRef[];
    readonly staged: readonly FlowRef[];
  }>;
}
