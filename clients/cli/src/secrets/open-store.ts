import type { CliEnv } from '../env.ts';
import { homeFolder } from '../home.ts';
import { createFileStore } from './file-store.ts';
import { openKeyringStore } from './keyring-store.ts';
import type { SecretStore } from './store.ts';

/** Opens the keyring of the system, or an encrypted file if there is none or with PARLEY_KEYRING=file. */
export async function openSecretStore(env: CliEnv): Promise<SecretStore> {
  const keyring = env.keyring === 'file' ? undefined : await openKeyringStore();
  return keyring ?? createFileStore(homeFolder(env));
}
