import type { Owner, StreamRef } from '@parley/core/domain/ids';
import type { CredentialRef } from '../domain/credential.ts';

/**
 * Every kind of sealed value, and what a change of master keys does with it. `vault` and `state`: the value is stored in the
 * vault, or with the other state, and is sealed again. `lapses`: the value expires within an hour, so the change waits for
 * that. `handed-out`: other parties hold the value, and its key is itself stored in the vault.
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

/** The kinds with one of these treatments. */
export type SealedKindsOf<How extends (typeof SEALED_KINDS)[SealedKind]> = {
  [Kind in SealedKind]: (typeof SEALED_KINDS)[Kind] extends How ? Kind : never;
}[SealedKind];

/** The kinds that are sealed again. */
export type RewrappedKind = SealedKindsOf<'vault' | 'state'>;

/** The round of questions of one tool call. */
export interface RoundRef extends Owner {
  /** `<streamRequestId> <toolCallId>` */
  readonly callKey: string;
  /** The MCP server that asked. */
  readonly serverId: string;
}

/** One of the slots that a task has for push targets. */
interface PushSlotRef extends StreamRef {
  readonly slot: number;
}

interface SealedRefs {
  readonly credential: CredentialRef;
  readonly staged: CredentialRef & { readonly flowId: string };
  readonly round: RoundRef;
  readonly push: PushSlotRef;
}

/** A sealed value of one of these kinds, and the object to which it belongs. */
export type SealedRecord<Kind extends RewrappedKind = RewrappedKind> = Kind extends unknown
  ? { readonly kind: Kind; readonly ref: SealedRefs[Kind]; readonly sealed: string }
  : never;

/** A sealed value that expires in `leftMs`. */
export interface LapsingValue {
  readonly kind: SealedKindsOf<'lapses'>;
  readonly sealed: string;
  readonly leftMs: number;
}

/** Where sealed values of some kinds are stored. */
export interface SealedStore<Kind extends RewrappedKind = RewrappedKind> {
  /**
   * All values, in pages. A value that exists during the whole scan is returned at least once. Throws the signal's reason when
   * aborted.
   */
  scan(signal?: AbortSignal): AsyncIterable<readonly (SealedRecord<Kind> | LapsingValue)[]>;
  /**
   * Replaces the sealed content of an unchanged record by the same content under another key. True when it was replaced.
   * Nothing else in the record changes, so a concurrent write of the record still succeeds.
   */
  rewrap(record: SealedRecord<Kind>, sealed: string): Promise<boolean>;
}
