import type { Credential, CredentialRef } from '../domain/credential.ts';
import { BUCKET_COUNT } from '../domain/ids.ts';
import type { CredentialState, FlowRef, StagedFlow, VaultStore } from '../ports/vault.ts';
import type { KeyRing } from './key-ring.ts';
import { credentialIdentity, openCredential, sealCredential, stagedIdentity } from './records.ts';
import { SealError, type SealIdentity } from './seal.ts';
import { createSecret, type Secret } from './secret.ts';

/** A credential as the vault holds it. */
export interface HeldCredential {
  readonly credential: Secret<Credential>;
  readonly version: number;
  readonly state: CredentialState;
  /** When it was written, ms on the store's clock. */
  readonly savedAt: number;
}

/**
 * Where credentials rest, sealed for one user, tool and connector each. Reading throws SealError when a record was
 * changed or its key is gone; every call throws `unavailable` while the store is away. No error holds a credential.
 */
export interface Vault {
  /** The credential of one user for one tool, usable or not; nothing when there is none. */
  read(ref: CredentialRef): Promise<HeldCredential | undefined>;
  /**
   * Saves a credential and makes it usable: over anything, or only over `expectedVersion` (0: where there is none).
   * Returns its version, or nothing when another version stood there.
   */
  save(ref: CredentialRef, credential: Credential, expectedVersion?: number): Promise<number | undefined>;
  /**
   * Keeps what a connect flow got, unusable, for at most `ttlMs`. Then it is gone, though the provider may still honour
   * it: a sweep promotes or drops it before.
   */
  stage(flow: FlowRef, credential: Credential, ttlMs: number): Promise<void>;
  /**
   * Makes what the flow staged the usable credential, and staged no more, in one step. Returns its version; again when
   * repeated, as long as no other flow replaced it. Nothing when the flow was dropped, lapsed or replaced.
   */
  promote(flow: FlowRef): Promise<number | undefined>;
  /** What the flow has staged, which stays; nothing when nothing is. */
  staged(flow: FlowRef): Promise<Secret<Credential> | undefined>;
  /** Forgets what the flow staged, and returns it to be revoked; nothing when nothing is staged, as after `promote`. */
  drop(flow: FlowRef): Promise<Secret<Credential> | undefined>;
  /**
   * Flows that staged something at least `olderThanMs` ago and were neither promoted nor dropped since; what they staged
   * may have lapsed. `drop` takes such a flow off this list all the same.
   */
  staleFlows(olderThanMs: number): AsyncIterable<StagedFlow>;
  /** Notes that the provider refuses this version; false when another stands there by now, which may do. */
  markReconnect(ref: CredentialRef, version: number): Promise<boolean>;
  /** Forgets the credential, and returns it to be revoked. One that does not open is forgotten too, and not returned. */
  remove(ref: CredentialRef): Promise<Secret<Credential> | undefined>;
}

export interface VaultDeps {
  readonly store: VaultStore;
  readonly keys: KeyRing;
}

const PAGE = 100;

/** Makes the vault on a store and a ring of master keys. */
export function createVault({ store, keys }: VaultDeps): Vault {
  const openOrNothing = (identity: SealIdentity, sealed: string) => {
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
      const { sealed, version, state, savedAt } = stored;
      const credential = createSecret(openCredential(keys, credentialIdentity(ref), sealed));
      return { credential, version, state, savedAt };
    },
    save: (ref, credential, expectedVersion) =>
      store.write(ref, sealCredential(keys, credentialIdentity(ref), credential), expectedVersion),
    stage: (flow, credential, ttlMs) =>
      store.stage(flow, sealCredential(keys, stagedIdentity(flow), credential), ttlMs),
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
        // A change of keys got in between, or the flow itself: what is staged now counts.
        if (version !== 'changed') return version;
      }
    },
    async staged(flow) {
      const staged = await store.readStaged(flow);
      return staged === undefined ? undefined : openOrNothing(stagedIdentity(flow), staged);
    },
    async drop(flow) {
      // Read first: a removal that is sent twice removes once, and what it removed would be lost with the first reply.
      const staged = await store.readStaged(flow);
      const dropped = await store.drop(flow);
      return dropped && staged !== undefined ? openOrNothing(stagedIdentity(flow), staged) : undefined;
    },
    staleFlows: (olderThanMs) => staleFlowsOf(store, olderThanMs),
    markReconnect: (ref, version) => store.markReconnect(ref, version),
    async remove(ref) {
      for (;;) {
        const stored = await store.read(ref);
        if (stored === undefined) return undefined;
        if (await store.remove(ref, stored.version))
          return openOrNothing(credentialIdentity(ref), stored.sealed);
      }
    },
  };
}

async function* staleFlowsOf(store: VaultStore, olderThanMs: number): AsyncGenerator<StagedFlow> {
  for (let bucket = 0; bucket < BUCKET_COUNT; bucket += 1) {
    // All of a bucket before the first is given away: whoever takes it shortens the list.
    const flows: StagedFlow[] = [];
    for (;;) {
      const page = await store.stale(bucket, olderThanMs, PAGE, flows.length);
      flows.push(...page);
      if (page.length < PAGE) break;
    }
    yield* flows;
  }
}
