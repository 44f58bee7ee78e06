import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { KeyRing } from './key-ring.ts';
import { seal, unseal } from './seal.ts';

/** The call of a remote agent that an address for pushes is for, and what its sender must name. */
const PushAddress = z.object({
  tenant: z.string(),
  userId: z.string(),
  callKey: z.string(),
  taskDigest: z.string(),
  tokenDigest: z.string(),
});
export type PushAddress = z.infer<typeof PushAddress>;

/** What an address is made of: its call, the id of the task at the remote agent, and the sender's token. */
export interface PushedTask extends Pick<PushAddress, 'tenant' | 'userId' | 'callKey'> {
  readonly taskId: string;
  readonly token: string;
}

/**
 * Makes and reads the last part of the addresses at which remote agents push. Every pod reads them without a record: they
 * are sealed, and reveal nothing.
 */
export interface PushAddresses {
  seal(task: PushedTask): string;
  /** Undefined for what no pod has sealed, or with a key that was removed. */
  open(text: string): PushAddress | undefined;
}

const IDENTITY = {
  purpose: 'push-address',
  recordId: '',
  tenant: '',
  userId: '',
  toolId: '',
  connectorId: '',
} as const;

export function createPushAddresses(keys: KeyRing): PushAddresses {
  return {
    seal({ tenant, userId, callKey, taskId, token }) {
      const address: PushAddress = {
        tenant,
        userId,
        callKey,
        taskDigest: digestOf(taskId).toString('base64url'),
        tokenDigest: digestOf(token).toString('base64url'),
      };
      return seal(keys, IDENTITY, JSON.stringify(address));
    },
    open(text) {
      try {
        return PushAddress.parse(JSON.parse(unseal(keys, IDENTITY, text)));
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
