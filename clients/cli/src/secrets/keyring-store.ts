import type { SecretStore } from './store.ts';

const SERVICE = 'parley';
const PROBE = 'parley.probe';

/**
 * On Linux only the Secret Service is used. Without it, the library would use the kernel's keyring, which is lost at the next
 * boot. Other systems ignore this option.
 */
const OPTIONS = { linux: { store: 'secret-service' } } as const;

/**
 * Opens the keyring of the system: the Keychain of macOS, the Credential Manager of Windows, or the Secret Service of Linux.
 * Undefined if there is none, for example on a server.
 */
export async function openKeyringStore(): Promise<SecretStore | undefined> {
  try {
    const { AsyncEntry } = await import('@napi-rs/keyring');
    const entryOf = (name: string) => new AsyncEntry(SERVICE, name, OPTIONS);
    // The first call fails if there is no unlocked keyring.
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
