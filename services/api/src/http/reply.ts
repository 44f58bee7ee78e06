import { ParleyError } from '@parley/core/domain/errors';
import type { Owner } from '@parley/core/domain/ids';
import { type Caller, notFound, type Seen } from '@parley/shared/domain/caller';
import { toWire } from '@parley/shared/domain/elicitations/row';
import { json, type Reply } from './route.ts';

/** Marks the reply of an earlier call with the same key. */
export const REPLAYED = { 'idempotent-replayed': 'true' } as const;

/** The reply of every call whose result is one elicitation. Its asker and its owner may see the content. */
export function seenReply(
  status: number,
  { row, now }: Seen,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return json(status, toWire(row, { now, content: true }), headers);
}

/** Narrows the type of a caller whose route admits only users. */
export function userOf(caller: Caller): Caller & { kind: 'user' } {
  if (caller.kind === 'user') return caller;
  throw new ParleyError('forbidden', "This call needs a user's token; a service key is nobody's user.");
}

/** The owner whose data a call concerns: the user, or the user that a service names. */
export function ownerOf(caller: Caller, userId: string | undefined): Owner {
  if (caller.kind === 'user') {
    if (userId !== undefined && userId !== caller.userId) throw notFound();
    return { tenant: caller.tenant, userId: caller.userId };
  }
  if (userId !== undefined) return { tenant: caller.tenant, userId };
  throw new ParleyError('invalid_request', 'A service names the user: add ?userId=.', {
    issues: [{ path: 'userId', message: 'is required for a service key' }],
  });
}
