import { randomUUID } from 'node:crypto';
import type { CredentialRef, OAuthCredential } from '@parley/shared/domain/credential';
import type { VaultStore } from '@parley/shared/ports/vault';
import { createDevelopmentKeyRing, type KeyRing, parseVaultKeys } from '@parley/shared/vault/key-ring';
import { createVault, type Vault } from '@parley/shared/vault/vault';

/** One store as three pods see it. */
export interface VaultPods {
  /** A connection per pod; the same store three times where it lives in one process. */
  readonly stores: readonly [VaultStore, VaultStore, VaultStore];
  /** Every value that lies in the store, however it is kept. */
  readonly dump: () => Promise<string[]>;
  /** Takes everything out. */
  empty(): Promise<void>;
  close(): Promise<void>;
}

export type OpenVaultPods = () => Promise<VaultPods>;

/** A key ring with one new key. */
export function newKeys(): KeyRing {
  return createDevelopmentKeyRing(() => undefined);
}

/** A ring as operators write it: the first id is the active key's. Equal ids are equal keys. */
export function ringOf(...ids: string[]): KeyRing {
  const entries = ids.map((id) => `${id}:${Buffer.from(id.padEnd(32, '.')).toString('base64')}`);
  const { keys, faults } = parseVaultKeys(entries);
  if (keys === undefined) throw new Error(faults.join('\n'));
  return keys;
}

/** Three vaults with one ring, one on each pod. */
export function vaultsOn({ stores }: VaultPods, keys: KeyRing): readonly [Vault, Vault, Vault] {
  const [first, second, third] = stores;
  return [
    createVault({ store: first, keys }),
    createVault({ store: second, keys }),
    createVault({ store: third, keys }),
  ];
}

/** A new credential reference. */
export function newRef(): CredentialRef {
  return {
    tenant: `tenant-${randomUUID()}`,
    userId: 'user@example.com',
    toolId: 'issues',
    connectorId: 'github',
  };
}

/** Tokens that ended a second ago. */
export function endedTokens(refreshToken = 'refresh 0'): OAuthCredential {
  return {
    kind: 'oauth2',
    accessToken: 'access 0',
    refreshToken,
    tokenType: 'Bearer',
    expiresAt: Date.now() - 1_000,
  };
}
