import type { Claims } from '../ports/elicitations/claims.ts';
import type { AskedKey } from '../ports/elicitations/elicitations.ts';

/**
 * Ends the claim on an idempotency key, unless another elicitation has the key by now: a claim lapses, and the same key may
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
