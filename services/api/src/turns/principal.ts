import { isReferenceId, type Owner } from '@parley/shared/domain/ids';
import type { ConversationRef } from '@parley/shared/domain/runs/run';
import { type Caller, notFound } from '@parley/shared/elicitations/caller';

/** No user has this name: turns of a service key belong to the key's tenant and to no user. */
const SERVICE_PRINCIPAL = '\u0000service';

/** The owner of the turns that a caller begins: the user, or the service key itself. */
export function principalOf(caller: Caller): Owner {
  const { tenant } = caller;
  return {
    tenant,
    userId: caller.kind === 'user' ? caller.userId : `${SERVICE_PRINCIPAL}:${caller.keyId ?? ''}`,
  };
}

/** A user's conversation by its id. Throws `not_found` for an id that none can have. */
export function conversationOf(
  { tenant, userId }: Owner,
  conversationId: string | undefined,
): ConversationRef {
  if (conversationId === undefined || !isReferenceId(conversationId)) throw notFound();
  return { tenant, userId, conversationId };
}
