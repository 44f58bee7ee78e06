import type { SecretStore } from './store.ts';

const SERVICE = 'parley';
const PROBE = 'parley.probe';

/** The keyring of the system; nothing where there is none, such as on a server. */
export async function openKeyringStore(): Promise<SecretStore | undefined> {
  try {
    const { AsyncEntry } = await import('@napi-rs/keyring');
    const entryOf = (name: string) => new AsyncEntry(SERVICE, name);
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
