import { ParleyError } from '@parley/core/domain/errors';
import { isReferenceId, type Owner } from '@parley/core/domain/ids';
import { faultOfUserId } from '@parley/core/domain/text';
import { type Caller, notFound } from '@parley/shared/domain/caller';
import type { ConversationRef } from '@parley/shared/domain/runs/run';

/** No user has this name. Turns of a service key belong to the key and its tenant, not to a user. */
const SERVICE_PRINCIPAL = '\u0000service';

/** The owner of turns that a caller begins: the user, or the service key itself. */
export function principalOf(caller: Caller): Owner {
  const { tenant } = caller;
  return caller.kind === 'user'
    ? { tenant, userId: caller.userId }
    : serviceOwner(tenant, caller.keyId ?? '');
}

/** The owner of turns that belong to a service key. */
export function serviceOwner(tenant: string, keyId: string): Owner {
  return { tenant, userId: `${SERVICE_PRINCIPAL}:${keyId}` };
}

/** The service key that is this owner; undefined for people. */
export function keyOfOwner({ userId }: Pick<Owner, 'userId'>): string | undefined {
  const prefix = `${SERVICE_PRINCIPAL}:`;
  return userId.startsWith(prefix) ? userId.slice(prefix.length) : undefined;
}

/** The owner of data about a turn, as it appears on the wire: a person or a service key. */
export function ownerView({ userId }: Pick<Owner, 'userId'>): { userId?: string; key?: string } {
  const key = keyOfOwner({ userId });
  return key === undefined ? { userId } : { key };
}

/** A user's conversation by its id. Throws `not_found` for an id that no conversation can have. */
export function conversationOf(
  { tenant, userId }: Owner,
  conversationId: string | undefined,
): ConversationRef {
  if (conversationId === undefined || !isReferenceId(conversationId)) throw notFound();
  return { tenant, userId, conversationId };
}

/** The header in which a service key names the person for whom it speaks. Its value is percent-encoded. */
export const USER_HEADER = 'parley-user';

/** The caller, and the person for whom it calls: a user, or a service key with the scope `act`. */
export interface ActingCaller {
  readonly caller: Caller;
  /** The person for whom the call is made. */
  readonly owner: Owner;
}

interface ActingCall {
  readonly caller: Caller;
  readonly header: (name: string) => string | undefined;
}

/** The person for whom a call is made: the token's user, or the person that a service key names. Throws `forbidden`. */
export function actingCallerOf({ caller, header }: ActingCall): ActingCaller {
  const { tenant } = caller;
  if (caller.kind === 'user') return { caller, owner: { tenant, userId: caller.userId } };
  const userId = decoded(header(USER_HEADER));
  if (userId !== undefined && faultOfUserId(userId) === undefined)
    return { caller, owner: { tenant, userId } };
  throw new ParleyError(
    'forbidden',
    `A service key speaks for a person here: name them in the header ${USER_HEADER}, percent-encoded.`,
  );
}

/** The decoded text. Undefined if the encoding is malformed. */
function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
