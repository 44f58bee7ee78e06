/**
 * The vault as the rest of Parley uses it: credentials in, credentials out, sealed in between. Refreshing is in `refresh.ts`,
 * and storing in the back ends.
 */

import { BUCKET_COUNT } from '@parley/core/domain/ids';
import type { Credential, CredentialRef } from '../domain/credential.ts';
import type { CredentialState, FlowRef, StagedFlow, VaultStore } from '../ports/vault.ts';
import type { KeyRing } from './key-ring.ts';
import { credentialIdentity, openCredential, sealCredential, stagedIdentity } from './records.ts';
import { SealError, type SealIdentity } from './seal.ts';
import { createSecret, type Secret } from './secret.ts';

/** A stored credential, opened. */
export interface OpenedCredential {
  readonly credential: Secret<Credential>;
  readonly version: number;
  readonly state: CredentialState;
  /** The time of the write, in ms on the store's clock, like the credential's `expiresAt`. */
  readonly savedAt: number;
  /** The time of the read, on the same clock. */
  readonly now: number;
}

/**
 * Stores credentials, each sealed for one user, tool and connector. `expiresAt` is given on the clock of this process, and
 * stored and returned on the clock of the store. Reading throws SealError when a record was changed or its key is missing.
 * Every method throws `unavailable`. No error contains a credential.
 */
export interface Vault {
  /** The credential of one user for one tool, usable or not. Undefined when there is none. */
  read(ref: CredentialRef): Promise<OpenedCredential | undefined>;
  /**
   * Saves a credential and makes it usable. With `expectedVersion`, only if the stored one has that version (0: none is
   * stored). Returns the new version, or undefined when another version is stored.
   */
  save(ref: CredentialRef, credential: Credential, expectedVersion?: number): Promise<number | undefined>;
  /**
   * Stores the credential of a connect flow for at most `ttlMs`, without making it usable. A sweep must promote or drop it
   * before then, because the provider may accept it for longer.
   */
  stage(flow: FlowRef, credential: Credential, ttlMs: number): Promise<void>;
  /**
   * Makes the flow's staged credential the usable one, atomically. Returns its version; also on a repeat, unless another flow
   * has replaced it. Undefined when the flow was dropped, has expired or was replaced.
   */
  promote(flow: FlowRef): Promise<number | undefined>;
  /** The flow's staged credential, which stays staged. Undefined when there is none. */
  staged(flow: FlowRef): Promise<Secret<Credential> | undefined>;
  /**
   * Deletes the flow's staged credential and returns it for revocation. Undefined when none is staged, for example after
   * `promote`.
   */
  drop(flow: FlowRef): Promise<Secret<Credential> | undefined>;
  /**
   * Flows that staged a credential at least `olderThanMs` ago and were neither promoted nor dropped. The staged credential
   * may have expired. `drop` removes such a flow from this list in any case.
   */
  staleFlows(olderThanMs: number): AsyncIterable<StagedFlow>;
  /** Records that the provider refuses this version. False when another version is stored, which the provider may accept. */
  markReconnect(ref: CredentialRef, version: number): Promise<boolean>;
  /** Deletes the credential and returns it for revocation. A credential that cannot be opened is deleted but not returned. */
  remove(ref: CredentialRef): Promise<Secret<Credential> | undefined>;
}

interface VaultDeps {
  readonly store: VaultStore;
  readonly keys: KeyRing;
}

const PAGE = 100;
const SAME_CLOCK_MS = 1_000;

/** Makes the vault on a store and a ring of master keys. */
export function createVault({ store, keys }: VaultDeps): Vault {
  const openIfPossible = (identity: SealIdentity, sealed: string) => {
    try {
      return createSecret(openCredential(keys, identity, sealed));
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  };

  return {
    async read(ref) {
      const stored = await store.read(ref);
      if (stored === undefined) return undefined;
      const { sealed, ...facts } = stored;
      const credential = openCredential(keys, credentialIdentity(ref), sealed);
      return {
        credential: createSecret(credential),
        ...facts,
        ...(credential.kind === 'withheld' && { state: 'reconnect_required' }),
      };
    },
    async save(ref, credential, expectedVersion) {
      const timed = await onStoreClock(store, ref, credential);
      return store.write(ref, sealCredential(keys, credentialIdentity(ref), timed), expectedVersion);
    },
    async stage(flow, credential, ttlMs) {
      const timed = await onStoreClock(store, flow, credential);
      await store.stage(flow, sealCredential(keys, stagedIdentity(flow), timed), ttlMs);
    },
    async promote(flow) {
      for (;;) {
        const staged = await store.readStaged(flow);
        const sealed =
          staged === undefined
            ? ''
            : sealCredential(
                keys,
                credentialIdentity(flow),
                openCredential(keys, stagedIdentity(flow), staged),
              );
        const version = await store.promote(flow, staged, sealed);
        // A change of keys or the flow itself changed the staged record after it was read, so it is read again.
        if (version !== 'changed') return version;
      }
    },
    async staged(flow) {
      const staged = await store.readStaged(flow);
      return staged === undefined ? undefined : openIfPossible(stagedIdentity(flow), staged);
    },
    async drop(flow) {
      // The record is read before it is removed: if the removal is sent twice, only the first reply contains the record, and
      // that reply may be lost.
      const staged = await store.readStaged(flow);
      const dropped = await store.drop(flow);
      return dropped && staged !== undefined ? openIfPossible(stagedIdentity(flow), staged) : undefined;
    },
    staleFlows: (olderThanMs) => readStaleFlows(store, olderThanMs),
    markReconnect: (ref, version) => store.markReconnect(ref, version),
    async remove(ref) {
      for (;;) {
        const stored = await store.read(ref);
        // The removal is also sent when no credential is stored, because the owner's list may still name one.
        if (!(await store.remove(ref, stored?.version ?? 0))) continue;
        return stored && openIfPossible(credentialIdentity(ref), stored.sealed);
      }
    },
  };
}

/**
 * Converts the expiry of a credential to the clock of the store, because the clocks of the processes that read it may differ.
 */
async function onStoreClock(
  store: VaultStore,
  ref: CredentialRef,
  credential: Credential,
): Promise<Credential> {
  if (credential.kind !== 'oauth2' || credential.expiresAt === undefined) return credential;
  const before = Date.now();
  const aheadMs = (await store.now(ref)) - before;
  // A small difference is only the time of the round trip.
  if (Math.abs(aheadMs) < SAME_CLOCK_MS) return credential;
  return { ...credential, expiresAt: credential.expiresAt + aheadMs };
}

async function* readStaleFlows(store: VaultStore, olderThanMs: number): AsyncGenerator<StagedFlow> {
  for (let bucket = 0; bucket < BUCKET_COUNT; bucket += 1) {
    // Read the whole bucket before the first flow is yielded, because the consumer removes flows from the list.
    const flows: StagedFlow[] = [];
    for (;;) {
      const page = await store.stale(bucket, olderThanMs, PAGE, flows.length);
      flows.push(...page);
      if (page.length < PAGE) break;
    }
    yield* flows;
  }
}
