import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';

/** The master keys. The active one seals; the others still open older records. */
export interface KeyRing {
  readonly activeId: string;
  /** The key with this id; undefined when the ring has none. */
  keyOf(id: string): KeyObject | undefined;
}

/** A key ring, or all faults of the entries. */
type ParsedKeyRing =
  | { readonly keys: KeyRing; readonly faults?: never }
  | { readonly keys?: never; readonly faults: readonly string[] };

const KEY_BYTES = 32;
const ID = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Makes a key ring from the entries of PARLEY_VAULT_KEYS, each `id:base64-of-32-bytes`, the active one first. Faults name
 * entries by their position, never by their content.
 */
export function parseVaultKeys(entries: readonly string[]): ParsedKeyRing {
  if (entries.length === 0)
    return { faults: ['PARLEY_VAULT_KEYS: is required where tools act with credentials of their users'] };
  const faults: string[] = [];
  const keys = new Map<string, Buffer>();
  for (const [index, entry] of entries.entries()) {
    const name = `PARLEY_VAULT_KEYS: entry ${index + 1}`;
    const colon = entry.indexOf(':');
    const id = entry.slice(0, Math.max(0, colon));
    const key = bytesOf(entry.slice(colon + 1));
    if (colon < 0) faults.push(`${name} has no id: it must be id:key`);
    else if (!ID.test(id)) faults.push(`${name} has an id that is not 1 to 64 of A-Z a-z 0-9 _ -`);
    else if (keys.has(id)) faults.push(`${name} has the id of an entry before it`);
    if (key?.length !== KEY_BYTES)
      faults.push(`${name} must hold 32 random bytes in base64; \`openssl rand -base64 32\` makes them`);
    else if (isSingleByte(key)) faults.push(`${name} repeats one byte 32 times, which is not a key`);
    else if ([...keys.values()].some((other) => other.equals(key)))
      faults.push(`${name} holds the key of an entry before it, so it would rotate nothing`);
    keys.set(id, key ?? Buffer.alloc(0));
  }
  const [activeId] = keys.keys();
  if (faults.length > 0 || activeId === undefined) return { faults };
  return { keys: createRing(activeId, keys) };
}

/**
 * Makes a ring with a random key, for development: only this process can open what it seals, so credentials are lost when
 * it ends. Calls `warn` with a text that explains this.
 */
export function createDevelopmentKeyRing(warn: (text: string) => void): KeyRing {
  warn(
    'PARLEY_VAULT_KEYS is not set: credentials are sealed with a random key of this process, and lost when it ends. Never use this in production.',
  );
  // The id is unique, so that records of another process are recognised as such.
  const id = `development-${randomBytes(4).toString('hex')}`;
  return createRing(id, new Map([[id, randomBytes(KEY_BYTES)]]));
}

function createRing(activeId: string, bytes: ReadonlyMap<string, Buffer>): KeyRing {
  const keys = new Map([...bytes].map(([id, key]) => [id, createSecretKey(key)]));
  return { activeId, keyOf: (id) => keys.get(id) };
}

/** Node's decoder skips characters that are not base64, so the decoded bytes are encoded again and compared. */
function bytesOf(text: string): Buffer | undefined {
  const plain = text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '');
  const bytes = Buffer.from(plain, 'base64');
  return bytes.toString('base64').replace(/=+$/, '') === plain ? bytes : undefined;
}

function isSingleByte(key: Buffer): boolean {
  return key.every((byte) => byte === key[0]);
}
