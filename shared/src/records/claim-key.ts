/**
 * Makes an idempotency key stand for one record, on all pods. Creating the record is not here: a repeat reads the claim and
 * repeats the commit.
 */

import { TIMEOUT_SECONDS_MAX } from '@parley/core/domain/elicitations/ask-input';
import { ParleyError } from '@parley/core/domain/errors';
import type { Claims } from '../ports/elicitations/claims.ts';
import type { AskedKey } from '../ports/elicitations/elicitations.ts';
import type { EngineDeps } from './deps.ts';
import { sha256 } from './digest.ts';

/** The ids that a key stands for. */
export interface Minted {
  readonly id: string;
  readonly streamRequestId: string;
}

/** The ids that a key stands for, and the name under which the key was claimed. */
interface ClaimedKey extends Minted {
  readonly key: string;
}

export interface KeyedAsk {
  readonly tenant: string;
  readonly key: string;
  /** The name of the asking service key; absent when Parley itself asks. */
  readonly by?: string | undefined;
  /** The digest of the request, and the digest that older builds compare. */
  readonly sent: string;
  readonly digest: string;
  /** True: the key alone identifies the record, even if the request differs. */
  readonly keyDecides: boolean;
}

/**
 * Returns the ids that a key stands for: the minted ones, unless this service key used the key before. Keys of Parley itself
 * contain spaces, so that no caller can use them. Throws `idempotency_mismatch`.
 */
export async function claimKey(
  { claims, settings }: Pick<EngineDeps, 'claims' | 'settings'>,
  { tenant, key: given, by, sent, digest, keyDecides }: KeyedAsk,
  minted: Minted,
): Promise<ClaimedKey> {
  const value = JSON.stringify({ digest, sent, by, ...minted });
  // A run may ask for its question again for as long as the question may stay open.
  const ttlMs = settings.retentionMs + (keyDecides ? TIMEOUT_SECONDS_MAX * 1000 : 0);
  const claimed = (name: string, as: string) =>
    claims.claim({ family: 'idempotency', tenant, name }, as, ttlMs);
  let key = given;
  let held = await claimed(key, value);
  if (isOfAnotherKey(held, by)) {
    // The plain claim is extended to the life of the second one. If it lapsed first, a repeat would claim the plain name
    // instead of finding the second claim.
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

/**
 * The first service key to use a key claims its plain name; later ones add their own name. Claims of earlier builds name no
 * service key.
 */
function isOfAnotherKey(held: string, by: string | undefined): boolean {
  const { by: first } = JSON.parse(held) as StoredClaim;
  return first !== undefined && by !== undefined && first !== by;
}

/** The id that a key stands for; undefined for an unused key. The record may not have been created yet. */
export async function idOfKey(claims: Claims, tenant: string, key: string): Promise<string | undefined> {
  const value = await claims.read({ family: 'idempotency', tenant, name: key });
  return value === undefined ? undefined : (JSON.parse(value) as Minted).id;
}

/**
 * Removes the claim on an idempotency key, unless it now stands for another record: after a claim lapsed, the same key may be
 * used for another user. Throws `unavailable`; repeatable.
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

/**
 * A digest that is independent of the order of property names. It includes no defaults, so that every build computes the same.
 */
export function digestOf(input: object): string {
  return sha256(JSON.stringify(input, sortedKeys));
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
