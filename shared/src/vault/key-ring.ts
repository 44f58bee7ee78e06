import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';

/** The master keys. New seals are made with the active one; the others still open what they sealed. */
export interface KeyRing {
  readonly activeId: string;
  /** Nothing when the ring has no key of that id. */
  keyOf(id: string): KeyObject | undefined;
}

/** A key ring, or in plain words all that is wrong with what it should be made from. */
export type ParsedKeyRing =
  | { readonly keys: KeyRing; readonly faults?: never }
  | { readonly keys?: never; readonly faults: readonly string[] };

const KEY_BYTES = 32;
const ID = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Makes a key ring from the entries of PARLEY_VAULT_KEYS, `id:base64-of-32-bytes` each, the active one first. Faults
 * name entries by their place, never by what they hold.
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
    else if (isMonotonous(key)) faults.push(`${name} holds one byte 32 times, which is no key`);
    else if ([...keys.values()].some((other) => other.equals(key)))
      faults.push(`${name} holds the key of an entry before it, which would rotate nothing`);
    keys.set(id, key ?? Buffer.alloc(0));
  }
  const [activeId] = keys.keys();
  if (faults.length > 0 || activeId === undefined) return { faults };
  return { keys: ringOf(activeId, keys) };
}

/**
 * Makes a ring with a key of its own, for development: what it seals, no other process opens and nobody opens once
 * this one has ended. Says so to `warn`, for nobody must use it unknowingly.
 */
export function createDevelopmentKeyRing(warn: (words: string) => void): KeyRing {
  warn(
    'PARLEY_VAULT_KEYS is not set: credentials are sealed with a key made up for this process, and lost with it. Never run production so.',
  );
  // An id of its own, so that what another process sealed is known for that.
  const id = `development-${randomBytes(4).toString('hex')}`;
  return ringOf(id, new Map([[id, randomBytes(KEY_BYTES)]]));
}

function ringOf(activeId: string, bytes: ReadonlyMap<string, Buffer>): KeyRing {
  const keys = new Map([...bytes].map(([id, key]) => [id, createSecretKey(key)]));
  return { activeId, keyOf: (id) => keys.get(id) };
}

/** Node's decoder passes over whatever is not base64, so what it read is written again and compared. */
function bytesOf(text: string): Buffer | undefined {
  const plain = text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '');
  const bytes = Buffer.from(plain, 'base64');
  return bytes.toString('base64').replace(/=+$/, '') === plain ? bytes : undefined;
}

function isMonotonous(key: Buffer): boolean {
  return key.every((byte) => byte === key[0]);
}
