import type { Owner } from '@parley/core/domain/ids';
import type { CredentialRef } from '../domain/credential.ts';
import type { SealedKindsOf, SealedStore } from './sealed.ts';

/** `reconnect_required`: the provider refuses the credential, and only the person can obtain a new one. */
export type CredentialState = 'usable' | 'reconnect_required';

/** A stored credential. Its content is sealed; its version and state are not. */
export interface StoredCredential {
  readonly sealed: string;
  /** Rises with every write, even after a removal, so that a version is never reused. */
  readonly version: number;
  readonly state: CredentialState;
  /** When it was written, in ms on the store's clock. */
  readonly savedAt: number;
  /** When it was read, on the same clock. */
  readonly now: number;
}

/** One attempt to obtain a credential through a connector, from the consent page to the usable credential. */
export interface FlowRef extends CredentialRef {
  readonly flowId: string;
}

/** A flow with a staged credential. */
export interface StagedFlow extends FlowRef {
  /** When the credential was staged, in ms on the store's clock. */
  readonly stagedAt: number;
}

/** Leases for all pods: only the holder of a credential's lease may refresh the credential. */
export interface Leases {
  /**
   * Gives `holder` the lease on a credential for `ttlMs`, unless another holder has it. True when `holder` has it now. An
   * unreleased lease lapses.
   */
  lease(ref: CredentialRef, holder: string, ttlMs: number): Promise<boolean>;
  /** Ends the lease if `holder` still has it. Another holder's lease is not changed. */
  release(ref: CredentialRef, holder: string): Promise<void>;
}

/**
 * Stores sealed credentials. The store never sees a key or an unsealed credential. Each write is one atomic step, and takes
 * effect once even if it is sent twice, as happens after a reconnect. `listOf` returns everything that `scan` does, including
 * entries of earlier versions.
 */
export interface VaultStore extends Leases, SealedStore<SealedKindsOf<'vault'>> {
  /** The store's clock, in ms since 1970. */
  now(owner: Owner): Promise<number>;
  /** The stored credential, in any state. Undefined when there is none. */
  read(ref: CredentialRef): Promise<StoredCredential | undefined>;
  /**
   * Writes a credential and makes it usable. With `expectedVersion`, only if the stored version is that one (0: none is
   * stored). Returns the new version, or undefined when another version was stored.
   */
  write(ref: CredentialRef, sealed: string, expectedVersion?: number): Promise<number | undefined>;
  /** Sets the state `reconnect_required` on this version. False when another version is stored. */
  markReconnect(ref: CredentialRef, version: number): Promise<boolean>;
  /** Removes this version. True when no credential is stored afterwards, false when another version is. */
  remove(ref: CredentialRef, version: number): Promise<boolean>;

  /** Stages a flow's credential for `ttlMs`, and lists the flow for `stale`. Replaces what the flow staged before. */
  stage(flow: FlowRef, sealed: string, ttlMs: number): Promise<void>;
  /** The sealed credential that the flow has staged. */
  readStaged(flow: FlowRef): Promise<string | undefined>;
  /**
   * Atomically removes `staged` from the flow and makes `sealed` the usable credential in place of any other. Returns its
   * version; also on a repeat, as long as that credential was not replaced. Returns `changed` when something else is staged,
   * and otherwise undefined.
   */
  promote(flow: FlowRef, staged: string | undefined, sealed: string): Promise<number | 'changed' | undefined>;
  /** Removes the flow's staged credential. False when nothing is staged because the flow was promoted. */
  drop(flow: FlowRef): Promise<boolean>;
  /**
   * The flows of one bucket that were staged at least `olderThanMs` ago and neither promoted nor dropped since: oldest first,
   * without the first `skip`. Their staged credentials may have expired.
   */
  stale(bucket: number, olderThanMs: number, limit: number, skip?: number): Promise<StagedFlow[]>;

  /** Every record of a person: the usable credentials, and the staged credentials of flows. */
  listOf(owner: Owner): Promise<{
    readonly credentials: readonly CredentialRef[];
    readonly staged: readonly FlowRef[];
  }>;
}
