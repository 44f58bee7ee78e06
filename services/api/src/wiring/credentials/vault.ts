import { type Env, EnvError } from '@parley/shared/config/env';
import { redisLocation } from '@parley/shared/config/redis-env';
import type { Log } from '@parley/shared/observe/log';
import { createDevelopmentKeyRing, type KeyRing, parseVaultKeys } from '@parley/shared/vault/key-ring';
import { createRefresher, type FreshCredentialOf } from '@parley/shared/vault/refresh';
import { createVault, type Vault } from '@parley/shared/vault/vault';
import type { PodParts } from '../pod-parts.ts';

/** The stored credentials of people and of the project. */
export interface VaultParts {
  readonly keys: KeyRing;
  readonly vault: Vault;
  readonly fresh: FreshCredentialOf;
}

/** Opens the vault and refreshes its credentials. Throws EnvError without keys. */
export function wireVault({ env, log, backend, metrics }: PodParts): VaultParts {
  const keys = createKeys(env, log);
  const vault = createVault({ store: backend.vault, keys });
  const fresh = createRefresher({
    vault,
    leases: backend.vault,
    onRefresh(outcome, { connectorId }, error) {
      metrics.credentialRefreshes.add(1, { outcome });
      // Connectors report a provider's error only as a registered code, so the message may be logged.
      const reason = error instanceof Error ? error.message : undefined;
      log[reason === undefined ? 'info' : 'warn']({ outcome, connectorId, reason }, 'credential refresh');
    },
  });
  return { keys, vault, fresh };
}

/** True if http is allowed on loopback hosts. */
export function isDevelopment({ NODE_ENV }: Pick<Env, 'NODE_ENV'>): boolean {
  return NODE_ENV !== 'production';
}

/** The vault's keys. Generated keys exist only in this process, so they are used only if no other process shares the vault. */
export function createKeys(env: Env, log: Log): KeyRing {
  const isAlone = redisLocation(env) === undefined && isDevelopment(env);
  if (env.PARLEY_VAULT_KEYS.length === 0 && isAlone)
    return createDevelopmentKeyRing((words) => log.warn(words));
  const { keys, faults } = parseVaultKeys(env.PARLEY_VAULT_KEYS);
  if (keys === undefined) throw new EnvError(faults);
  return keys;
}
