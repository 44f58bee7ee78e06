import type { FamilyTypes } from '../../domain/family.ts';
import type { RecordDeps } from './deps.ts';
import { isIdOf } from './read.ts';
import { settle } from './settle.ts';

export type ExpireResult =
  | { readonly type: 'expired' }
  /** It had ended before. */
  | { readonly type: 'ended' }
  /** Not due yet on the Redis clock: fire again in `remainingMs`. */
  | { readonly type: 'early'; readonly remainingMs: number }
  /** No such row. */
  | { readonly type: 'gone' };

/** Ends a record whose deadline has passed on the Redis clock; anything else it leaves alone. */
export async function expire<T extends FamilyTypes>(deps: RecordDeps<T>, id: string): Promise<ExpireResult> {
  const { family, records } = deps;
  if (!isIdOf(deps, id)) return { type: 'gone' };
  const { row, now } = await records.read(id);
  if (row === undefined) return { type: 'gone' };
  if (family.isTerminal(row.status)) return { type: 'ended' };
  const caller = { kind: 'service', tenant: row.definition.tenant } as const;
  const after = await settle(deps, caller, { row, now }, { type: 'expire' });
  if (family.isTerminal(after.row.status)) {
    return { type: after.row.status === 'expired' ? 'expired' : 'ended' };
  }
  return {
    type: 'early',
    remainingMs: Math.max(1, after.row.expiresAt - after.now),
  };
}
