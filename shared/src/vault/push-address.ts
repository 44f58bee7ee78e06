/**
 * Addresses at which remote agents push, sealed so that every pod can read them without a stored record. Receiving a push is
 * the A2A surface's business.
 */

import { createHash, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { KeyRing } from './key-ring.ts';
import { SealError, seal, unseal } from './seal.ts';
import type { Vault } from './vault.ts';

/** The content of a push address: the call of a remote agent for which it was made, and what a sender must name. */
const PushAddress = z.object({
  tenant: z.string(),
  userId: z.string(),
  callKey: z.string(),
  taskDigest: z.string(),
  tokenDigest: z.string(),
});
type PushAddress = z.infer<typeof PushAddress>;

/** The input of an address: its call, the id of the task at the remote agent, and the sender's token. */
interface PushedTask extends Pick<PushAddress, 'tenant' | 'userId' | 'callKey'> {
  readonly taskId: string;
  readonly token: string;
}

/**
 * Makes and reads the last path segment of the addresses at which remote agents push. The segments are sealed, so every pod can
 * read them without a stored record, and they reveal nothing. Both methods throw `unavailable`.
 */
export interface PushAddresses {
  seal(task: PushedTask): Promise<string>;
  /** Undefined for a text that no pod has sealed. */
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
// No token can name this tenant.
const KEY_REF = {
  tenant: '\0parley',
  userId: 'deployment',
  toolId: 'push-addresses',
  connectorId: 'key',
} as const;
const KEY_ID = 'own';
const KEY_BYTES = 32;
/** The form of an address that was sealed under that key. */
const FORM = /^v1\.own\.[A-Za-z0-9_-]{80}\.[A-Za-z0-9_-]+$/;
/** How long the key, or the knowledge that there is none, is cached; another pod may create the key. */
const KEPT_MS = 60_000;
const ABSENT_MS = 1_000;

/**
 * Remote agents keep addresses as long as their tasks, out of reach of a change of master keys. Therefore addresses are sealed
 * under a separate key of the deployment, which the vault stores.
 */
export function createPushAddresses(vault: Pick<Vault, 'read' | 'save'>): PushAddresses {
  async function storedKey(): Promise<KeyRing | undefined> {
    const credential = (await vault.read(KEY_REF))?.credential.reveal();
    if (credential?.kind !== 'api_key') return undefined;
    const key = createSecretKey(credential.value, 'base64url');
    return { activeId: KEY_ID, keyOf: (id) => (id === KEY_ID ? key : undefined) };
  }

  let known: { readonly keys: Promise<KeyRing | undefined>; until: number } | undefined;

  /** The cached key. Anybody may send addresses, and a flood of them must not reach the vault. */
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
      // If another pod stores a key first, that key is read.
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

/** Compares a text with the digest in an address, in constant time for texts of the same length. */
export function hasDigest(text: string, sealed: string): boolean {
  const right = Buffer.from(sealed, 'base64url');
  const given = digestOf(text);
  return right.length === given.length && timingSafeEqual(given, right);
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
