import { createHash, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { KeyRing } from './key-ring.ts';
import { SealError, seal, unseal } from './seal.ts';
import type { Vault } from './vault.ts';

/** The call of a remote agent that an address for pushes is for, and what its sender must name. */
const PushAddress = z.object({
  tenant: z.string(),
  userId: z.string(),
  callKey: z.string(),
  taskDigest: z.string(),
  tokenDigest: z.string(),
});
type PushAddress = z.infer<typeof PushAddress>;

/** What an address is made of: its call, the id of the task at the remote agent, and the sender's token. */
interface PushedTask extends Pick<PushAddress, 'tenant' | 'userId' | 'callKey'> {
  readonly taskId: string;
  readonly token: string;
}

/**
 * Makes and reads the last part of the addresses at which remote agents push. Every pod reads them without a record: they
 * are sealed, and reveal nothing. Both throw `unavailable`.
 */
export interface PushAddresses {
  seal(task: PushedTask): Promise<string>;
  /** Undefined for what no pod has sealed. */
  open(text: string): Promise<PushAddress | undefined>;
}

const IDENTITY = {
  purpose: 'push-address',
  recordId: '',
  tenant: '',
  userId: '',
  toolId: '',
  connectorId: '',
} as const;
// No tenant of a token can have this name.
const KEY_REF = {
  tenant: '\0parley',
  userId: 'deployment',
  toolId: 'push-addresses',
  connectorId: 'key',
} as const;
const KEY_ID = 'own';
const KEY_BYTES = 32;
/** An address under that key, with the wrapped key of its data. */
const FORM = /^v1\.own\.[A-Za-z0-9_-]{80}\.[A-Za-z0-9_-]+$/;
/** How long the key is kept, and how long it is known that there is none: another pod may make it. */
const KEPT_MS = 60_000;
const ABSENT_MS = 1_000;

/**
 * Addresses live with remote agents as long as their tasks, so no change of master keys reaches them. They are sealed under
 * a key of the deployment, which rests in the vault.
 */
export function createPushAddresses(vault: Pick<Vault, 'read' | 'save'>): PushAddresses {
  async function storedKey(): Promise<KeyRing | undefined> {
    const credential = (await vault.read(KEY_REF))?.credential.reveal();
    if (credential?.kind !== 'api_key') return undefined;
    const key = createSecretKey(credential.value, 'base64url');
    return { activeId: KEY_ID, keyOf: (id) => (id === KEY_ID ? key : undefined) };
  }

  let known: { readonly keys: Promise<KeyRing | undefined>; until: number } | undefined;

  /** The key as it was a short time ago. Anybody may send addresses, and their number must not reach the vault. */
  async function knownKey(): Promise<KeyRing | undefined> {
    const now = performance.now();
    if (known !== undefined && now < known.until) return known.keys;
    const one = { keys: storedKey(), until: now + ABSENT_MS };
    known = one;
    try {
      const keys = await one.keys;
      if (keys !== undefined) one.until = now + KEPT_MS;
      return keys;
    } catch (error) {
      if (!(error instanceof SealError)) one.until = 0;
      throw error;
    }
  }

  async function ownKey(): Promise<KeyRing> {
    for (;;) {
      const stored = await storedKey();
      if (stored !== undefined) {
        known = { keys: Promise.resolve(stored), until: performance.now() + KEPT_MS };
        return stored;
      }
      // Another pod may be first; then its key is read.
      const value = randomBytes(KEY_BYTES).toString('base64url');
      await vault.save(KEY_REF, { kind: 'api_key', value }, 0);
    }
  }

  return {
    async seal({ tenant, userId, callKey, taskId, token }) {
      const address: PushAddress = {
        tenant,
        userId,
        callKey,
        taskDigest: digestOf(taskId).toString('base64url'),
        tokenDigest: digestOf(token).toString('base64url'),
      };
      return seal(await ownKey(), IDENTITY, JSON.stringify(address));
    },
    async open(text) {
      if (!FORM.test(text)) return undefined;
      const keys = await knownKey().catch((error: unknown) => {
        if (error instanceof SealError) return undefined;
        throw error;
      });
      try {
        return keys && PushAddress.parse(JSON.parse(unseal(keys, IDENTITY, text)));
      } catch {
        return undefined;
      }
    },
  };
}

/** True for the text of a digest in an address. Takes the same time for every text of its length. */
export function hasDigest(text: string, sealed: string): boolean {
  const right = Buffer.from(sealed, 'base64url');
  const given = digestOf(text);
  return right.length === given.length && timingSafeEqual(given, right);
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
