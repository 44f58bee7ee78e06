import type { CredentialRef, OAuthCredential } from '@parley/shared/domain/credential';
import { connectCommands } from '@parley/shared/redis/client/connect';
import { VAULT_KEYS } from '@parley/shared/redis/vault/keys';
import { createRedisVaultStore } from '@parley/shared/redis/vault/store';
import { parseVaultKeys } from '@parley/shared/vault/key-ring';
import { createVault, type Vault } from '@parley/shared/vault/vault';
import { dumpRedis } from '../../harness/redis/dump-redis.ts';
import { withRedis } from '../../harness/redis/redis-command.ts';
import { ACCOUNT } from './agents.ts';
import type { World } from './world.ts';

/** The vault as an operator with its keys opens it. */
export async function withVault<T>({ redis, secrets }: World, use: (vault: Vault) => Promise<T>): Promise<T> {
  const { keys } = parseVaultKeys([`one:${secrets.vault}`]);
  if (keys === undefined) throw new Error('no keys');
  const commands = connectCommands({ kind: 'single', url: redis.url });
  await new Promise((resolve) => commands.once('ready', resolve));
  try {
    return await use(createVault({ store: createRedisVaultStore(commands), keys }));
  } finally {
    commands.disconnect();
  }
}

export function accountOf(userId: string): CredentialRef {
  return { tenant: 'default', userId, toolId: 'tracker', connectorId: ACCOUNT };
}

/** The tokens of a person's connected account. */
export async function tokensOf(vault: Vault, userId: string): Promise<OAuthCredential> {
  const credential = (await vault.read(accountOf(userId)))?.credential.reveal();
  if (credential?.kind !== 'oauth2') throw new Error(`${userId} has connected nothing`);
  return credential;
}

/** Every record of a person in the vault, sealed or not, usable or staged. */
export async function keptOf({ redis }: World, userId: string): Promise<string[]> {
  const texts = await withRedis(redis.url, (client) => dumpRedis(client, VAULT_KEYS));
  return texts.filter((text) => text.includes(`default/${userId}/`));
}
