import type { Owner, StreamRef } from '@parley/core/domain/ids';
import type { CredentialRef } from '../domain/credential.ts';

/**
 * Every kind of value that is sealed, and what a change of master keys does with it. `vault` and `state`: the value rests in
 * the vault, or among the other state, and is sealed anew. `lapses`: it ends within an hour, which is waited for.
 * `handed-out`: it rests with others, and is sealed under a key that itself rests in the vault.
 */
export const SEALED_KINDS = {
  credential: 'vault',
  staged: 'vault',
  round: 'state',
  push: 'state',
  flow: 'lapses',
  'push-address': 'handed-out',
} as const satisfies Readonly<Record<string, 'vault' | 'state' | 'lapses' | 'handed-out'>>;
export type SealedKind = keyof typeof SEALED_KINDS;

/** The kinds to which one of these things happens. */
export type SealedKindsOf<How extends (typeof SEALED_KINDS)[SealedKind]> = {
  [Kind in SealedKind]: (typeof SEALED_KINDS)[Kind] extends How ? Kind : never;
}[SealedKind];

/** The kinds that are sealed anew. */
export type RewrappedKind = SealedKindsOf<'vault' | 'state'>;

/** The round of questions of one tool call. */
export interface RoundRef extends Owner {
  /** `<streamRequestId> <toolCallId>` */
  readonly callKey: string;
  /** The MCP server that asked. */
  readonly serverId: string;
}

/** One of the places that a task has for targets of pushes. */
interface PushSlotRef extends StreamRef {
  readonly slot: number;
}

interface SealedRefs {
  readonly credential: CredentialRef;
  readonly staged: CredentialRef & { readonly flowId: string };
  readonly round: RoundRef;
  readonly push: PushSlotRef;
}

/** A sealed value of one of these kinds, and what it belongs to. */
export type SealedRecord<Kind extends RewrappedKind = RewrappedKind> = Kind extends unknown
  ? { readonly kind: Kind; readonly ref: SealedRefs[Kind]; readonly sealed: string }
  : never;

/** A sealed value that ends in `leftMs`. */
export interface LapsingValue {
  readonly kind: SealedKindsOf<'lapses'>;
  readonly sealed: string;
  readonly leftMs: number;
}

/** Where sealed values of some kinds rest. */
export interface SealedStore<Kind extends RewrappedKind = RewrappedKind> {
  /**
   * All values in pages. A value that exists during the whole scan is returned at least once. Throws the signal's reason
   * when aborted.
   */
  scan(signal?: AbortSignal): AsyncIterable<readonly (SealedRecord<Kind> | LapsingValue)[]>;
  /**
   * Replaces the sealed content of a record by the same content under another key, if it has not changed. True when it was
   * replaced. Nothing else of the record changes, so a concurrent write over it still succeeds.
   */
  rewrap(record: SealedRecord<Kind>, sealed: string): Promise<boolean>;
}
