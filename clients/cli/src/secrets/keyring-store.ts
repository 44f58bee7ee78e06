import type { SecretStore } from './store.ts';

const SERVICE = 'parley';
const PROBE = 'parley.probe';

/**
 * On Linux the Secret Service only: without one the library would take the keyring of the kernel, which is lost at the next
 * start of the machine. Elsewhere the library ignores it.
 */
const OPTIONS = { linux: { store: 'secret-service' } } as const;

/**
 * The keyring of the system: the Keychain of macOS, the Credential Manager of Windows, the Secret Service of Linux. Nothing
 * where there is none, such as on a server.
 */
export async function openKeyringStore(): Promise<SecretStore | undefined> {
  try {
    const { AsyncEntry } = await import('@napi-rs/keyring');
    const entryOf = (name: string) => new AsyncEntry(SERVICE, name, OPTIONS);
    // Without a keyring that is unlocked the first call fails.
    await entryOf(PROBE).setPassword(PROBE);
    if ((await entryOf(PROBE).getPassword()) !== PROBE) return undefined;
    await entryOf(PROBE).deletePassword();
    return {
      place: 'the keyring of the system',
      set: async (name, value) => entryOf(name).setPassword(value),
      get: async (name) => (await entryOf(name).getPassword()) ?? undefined,
      remove: async (name) => (await entryOf(name).deletePassword()) === true,
    };
  } catch {
    return undefined;
  }
}
