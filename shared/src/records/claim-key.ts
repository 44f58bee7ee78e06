import { TIMEOUT_SECONDS_MAX } from '@parley/core/domain/elicitations/ask-input';
import { ParleyError } from '@parley/core/domain/errors';
import type { Claims } from '../ports/elicitations/claims.ts';
import type { AskedKey } from '../ports/elicitations/elicitations.ts';
import type { EngineDeps } from './deps.ts';
import { sha256 } from './digest.ts';

/** What a key stands for. */
export interface Minted {
  readonly id: string;
  readonly streamRequestId: string;
}

/** The record that a key stands for, and the name under which the key was claimed. */
interface ClaimedKey extends Minted {
  readonly key: string;
}

export interface KeyedAsk {
  readonly tenant: string;
  readonly key: string;
  /** The name of the service key that asks; absent where Parley itself does. */
  readonly by?: string | undefined;
  /** Digest of what was sent, and the digest that older builds compare. */
  readonly sent: string;
  readonly digest: string;
  /** True: the key alone says which record it is. */
  readonly keyDecides: boolean;
}

/**
 * The record that a key stands for: the minted one, unless the service key used the key before. Keys of Parley itself have
 * spaces, so that nobody else has them. Throws `idempotency_mismatch`.
 */
export async function claimKey(
  { claims, settings }: Pick<EngineDeps, 'claims' | 'settings'>,
  { tenant, key: given, by, sent, digest, keyDecides }: KeyedAsk,
  minted: Minted,
): Promise<ClaimedKey> {
  const value = JSON.stringify({ digest, sent, by, ...minted });
  // A run may come back to its question as long as that may stay open.
  const ttlMs = settings.retentionMs + (keyDecides ? TIMEOUT_SECONDS_MAX * 1000 : 0);
  const claimed = (name: string, as: string) =>
    claims.claim({ family: 'idempotency', tenant, name }, as, ttlMs);
  let key = given;
  let held = await claimed(key, value);
  if (isOfAnotherKey(held, by)) {
    // It stays for as long as the claim beside it, which a repeat could not find in its place.
    await claimed(key, held);
    key = `${by} ${given}`;
    held = await claimed(key, value);
  }
  const claim = JSON.parse(held) as StoredClaim;
  const isSame = claim.sent === undefined ? claim.digest === digest : claim.sent === sent;
  if (!isSame && !keyDecides) {
    throw new ParleyError(
      'idempotency_mismatch',
      'This Idempotency-Key was used with another body; use a new key.',
    );
  }
  return { id: claim.id, streamRequestId: claim.streamRequestId, key };
}

interface StoredClaim extends Minted {
  readonly digest: string;
  readonly sent?: string;
  readonly by?: string;
}

/** The first service key that uses a key has it under its plain name, as all had with earlier builds, which named none. */
function isOfAnotherKey(held: string, by: string | undefined): boolean {
  const { by: first } = JSON.parse(held) as StoredClaim;
  return first !== undefined && by !== undefined && first !== by;
}

/** Id of the record that a key stands for, which may not have been created yet; undefined for a key that was not used. */
export async function idOfKey(claims: Claims, tenant: string, key: string): Promise<string | undefined> {
  const value = await claims.read({ family: 'idempotency', tenant, name: key });
  return value === undefined ? undefined : (JSON.parse(value) as Minted).id;
}

/**
 * Ends the claim on an idempotency key, unless another record has the key by now: a claim lapses, and the same key may
 * then be used for another user. Throws `unavailable`; repeatable.
 */
export async function dropKeyClaim(
  claims: Claims,
  tenant: string,
  { key, elicitationId }: AskedKey,
): Promise<void> {
  const name = { family: 'idempotency', tenant, name: key } as const;
  const value = await claims.read(name);
  // The value is JSON that contains the id.
  if (value?.includes(JSON.stringify(elicitationId))) await claims.drop(name, value);
}

/** A digest that does not depend on the order of names. It covers no default, so that it is the same on every build. */
export function digestOf(input: object): string {
  return sha256(JSON.stringify(input, sortedKeys));
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
