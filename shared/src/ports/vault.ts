import type { CredentialRef } from '../domain/credential.ts';

/** `reconnect_required`: the provider refuses it, and only the person can get another one. */
export type CredentialState = 'usable' | 'reconnect_required';

/** A credential at rest. What it holds is sealed; how it stands is not. */
export interface StoredCredential {
  readonly sealed: string;
  /** Rises with every write, over a removal too: what was read under one version is never taken for another. */
  readonly version: number;
  readonly state: CredentialState;
  /** When it was written, ms on the store's clock. */
  readonly savedAt: number;
}

/** One way through a connector, from the consent page to a usable credential. */
export interface FlowRef extends CredentialRef {
  readonly flowId: string;
}

/** A flow whose credential was staged a while ago. */
export interface StagedFlow extends FlowRef {
  /** Ms on the store's clock. */
  readonly stagedAt: number;
}

/** Anything sealed that the store holds: a credential, or with a flow one that is only staged. */
export type SealedRecord =
  | { readonly kind: 'credential'; readonly ref: CredentialRef; readonly sealed: string }
  | { readonly kind: 'staged'; readonly ref: FlowRef; readonly sealed: string };

/** Who may refresh a credential now, over all pods. */
export interface Leases {
  /**
   * Gives `holder` the credential's lease for `ttlMs` when nobody has it, or when `holder` has it already; says whether
   * it has it now. A lease nobody releases ends with its time, whatever became of its holder.
   */
  lease(ref: CredentialRef, holder: string, ttlMs: number): Promise<boolean>;
  /** Ends the lease if it is still `holder`'s; that of another is left alone. */
  release(ref: CredentialRef, holder: string): Promise<void>;
}

/**
 * Where sealed credentials rest. The store never sees a key or a plain credential. Each write is one atomic step, and
 * one that is sent twice, as happens after a reconnect, does what it does once.
 */
export interface VaultStore extends Leases {
  /** The credential as it stands, usable or not. Nothing when there is none. */
  read(ref: CredentialRef): Promise<StoredCredential | undefined>;
  /**
   * Writes a credential and makes it usable. With `expectedVersion` only over that version (0: where there is none);
   * without, over anything. Returns its version, or nothing when another version stood there.
   */
  write(ref: CredentialRef, sealed: string, expectedVersion?: number): Promise<number | undefined>;
  /** Sets `reconnect_required` on this version, which stays current; false when another stands there, or none. */
  markReconnect(ref: CredentialRef, version: number): Promise<boolean>;
  /** Removes this version; true when there is none afterwards, false when another version stands there. */
  remove(ref: CredentialRef, version: number): Promise<boolean>;

  /** Keeps what a flow got apart, for `ttlMs`, and notes the flow in the list of `stale`. Replaces what it got before. */
  stage(flow: FlowRef, sealed: string, ttlMs: number): Promise<void>;
  /** What the flow has staged. */
  readStaged(flow: FlowRef): Promise<string | undefined>;
  /**
   * In one step: removes `staged` from the flow and writes `sealed` as the usable credential, over anything. Returns
   * its version; the version of now when this flow was promoted before and nothing replaced it since; `changed` when
   * something else is staged; else nothing.
   */
  promote(flow: FlowRef, staged: string | undefined, sealed: string): Promise<number | 'changed' | undefined>;
  /** Removes what the flow has staged; false when it has nothing staged because it was promoted. */
  drop(flow: FlowRef): Promise<boolean>;
  /**
   * Flows of one bucket that were staged at least `olderThanMs` ago and neither promoted nor dropped since, oldest
   * first, after the first `skip`. What such a flow staged may have lapsed.
   */
  stale(bucket: number, olderThanMs: number, limit: number, skip?: number): Promise<StagedFlow[]>;

  /**
   * Every record, in pages, credentials and staged ones alike. One that is there all the time comes at least once.
   * Stops with the signal's reason.
   */
  scan(signal?: AbortSignal): AsyncIterable<readonly SealedRecord[]>;
  /**
   * Replaces what is sealed in `record` by the same under another key, if it is still there unchanged; says so.
   * Version, state and time to live stay: whoever is about to write over that version still may.
   */
  rewrap(record: SealedRecord, sealed: string): Promise<boolean>;
}
