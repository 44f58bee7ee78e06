import type { CliEnv } from '../env.ts';
import { homeFolder } from '../home.ts';
import { createFileStore } from './file-store.ts';
import { openKeyringStore } from './keyring-store.ts';
import type { SecretStore } from './store.ts';

/** The keyring of the system; where there is none, or with PARLEY_KEYRING=file, an encrypted file. */
export async function openSecretStore(env: CliEnv): Promise<SecretStore> {
  const keyring = env.keyring === 'file' ? undefined : await openKeyringStore();
  return keyring ?? createFileStore(homeFolder(env));
}
