import type { Owner } from '@parley/core/domain/ids';
import type { ClientRequests } from '@parley/shared/elicitations/asking/client-requests';
import type { FollowedEvent } from '../../../turns/follow.ts';
import { notification } from '../json-rpc.ts';
import { type ClientAsked, createOpenRequests } from '../open-requests.ts';

/** The requests of a call's server to its client, as messages on the call's stream. */
export function createClientMessages(
  { clientRequests }: { readonly clientRequests: Pick<ClientRequests, 'isOpen'> },
  { caller }: { readonly caller: Owner },
) {
  const requests = createOpenRequests();

  async function requestOf(asked: ClientAsked): Promise<object[]> {
    const { requestId: id, method, params } = asked;
    // The feed may contain the request again for a later reader, although the client has replied.
    if (!(await clientRequests.isOpen(caller, id))) {
      requests.replied(id);
      return [];
    }
    return [{ jsonrpc: '2.0', id, method, params }];
  }

  return async (followed: FollowedEvent): Promise<object[]> => {
    const { asked, dropped } = requests.take(followed);
    if ('isKnown' in followed && followed.isKnown) return [];
    const reason = 'No reply is needed any more.';
    const cancelled = ({ requestId }: ClientAsked) =>
      notification('notifications/cancelled', { requestId, reason });
    return [...(asked === undefined ? [] : await requestOf(asked)), ...dropped.map(cancelled)];
  };
}
