import { isTerminal } from '../domain/elicitations/status.ts';
import { bucketOfElicitationId } from '../domain/ids.ts';
import type { EngineDeps } from './deps.ts';
import { settle } from './settle.ts';

export type ExpireResult =
  | { readonly type: 'expired' }
  /** It had ended before. */
  | { readonly type: 'ended' }
  /** Not due yet on the Redis clock: fire again in `remainingMs`. */
  | { readonly type: 'early'; readonly remainingMs: number }
  /** No such row. */
  | { readonly type: 'gone' };

/** Ends an elicitation whose deadline has passed on the Redis clock; anything else it leaves alone. */
export async function expire(deps: EngineDeps, id: string): Promise<ExpireResult> {
  if (bucketOfElicitationId(id) === undefined) return { type: 'gone' };
  const { row, now } = await deps.elicitations.read(id);
  if (row === undefined) return { type: 'gone' };
  if (isTerminal(row.status)) return { type: 'ended' };
  const caller = { kind: 'service', tenant: row.definition.tenant } as const;
  const after = await settle(deps, caller, { row, now }, { type: 'expire' });
  if (isTerminal(after.row.status)) {
    return { type: after.row.status === 'expired' ? 'expired' : 'ended' };
  }
  return {
    type: 'early',
    remainingMs: Math.max(1, after.row.expiresAt - after.now),
  };
}
