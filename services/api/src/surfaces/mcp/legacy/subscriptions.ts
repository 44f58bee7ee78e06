/** Stores the resource subscriptions of sessions. Watching the resources is in `standalone.ts`. */

import { ResourceNotFoundError, type Server } from '@modelcontextprotocol/server';
import { ParleyError } from '@parley/core/domain/errors';
import type { Owner } from '@parley/core/domain/ids';
import { z } from 'zod';
import { userOf } from '../../../http/reply.ts';
import type { RouteCall } from '../../../http/route.ts';
import { tooManySubscriptions } from '../content.ts';
import type { McpDeps } from '../deps.ts';
import { guardedBy } from '../server.ts';
import type { HandedOver } from './handed-over.ts';

/** The subscribed resources of sessions, for all pods. The pod with the session's own stream watches them. */
interface SessionSubscriptions {
  list(owner: Owner, sessionId: string): Promise<readonly string[]>;
  /** Throws `invalid_request` if the session has too many. */
  add(owner: Owner, sessionId: string, uri: string): Promise<void>;
  remove(owner: Owner, sessionId: string, uri: string): Promise<void>;
  /** Ends all subscriptions, and the stream that watches them. */
  end(owner: Owner, sessionId: string): Promise<void>;
  /**
   * Calls the listener when the subscriptions have changed, or may have changed, on any pod. The returned function ends this.
   */
  follow(owner: Owner, sessionId: string, listener: () => void): () => void;
}

type SubscriptionDeps = Pick<McpDeps, 'records' | 'sessionMs' | 'subscriptionChanges' | 'subscriptionsMax'>;

const Uris = z.array(z.string());
// The maximum length of an address, because one record contains all subscriptions of a session.
const URI_LENGTH_MAX = 4_096;

export function createSubscriptions({
  records,
  sessionMs,
  subscriptionChanges,
  subscriptionsMax,
}: SubscriptionDeps): SessionSubscriptions {
  const nameOf = (sessionId: string) => `mcp-subscriptions/${sessionId}`;
  const topicOf = ({ tenant, userId }: Owner, streamRequestId: string) => ({
    tenant,
    userId,
    streamRequestId,
  });
  const parsed = (stored: string | undefined) => (stored === undefined ? [] : Uris.parse(JSON.parse(stored)));
  const published = (owner: Owner, sessionId: string) =>
    subscriptionChanges.publish(topicOf(owner, sessionId), 'changed');

  async function change(
    owner: Owner,
    sessionId: string,
    next: (uris: readonly string[]) => readonly string[],
  ): Promise<void> {
    const name = nameOf(sessionId);
    for (;;) {
      const from = await records.read(owner, name, sessionMs);
      const to = JSON.stringify(next(parsed(from)));
      if (to === (from ?? '[]')) return;
      if (!(await records.replace(owner, { name, from, to, ttlMs: sessionMs }))) continue;
      await published(owner, sessionId);
      return;
    }
  }

  return {
    list: async (owner, sessionId) => parsed(await records.read(owner, nameOf(sessionId), sessionMs)),
    add: (owner, sessionId, uri) =>
      change(owner, sessionId, (uris) => {
        if (uris.includes(uri)) return uris;
        if (uris.length < subscriptionsMax) return [...uris, uri];
        throw new ParleyError('invalid_request', tooManySubscriptions(subscriptionsMax));
      }),
    remove: (owner, sessionId, uri) => change(owner, sessionId, (uris) => uris.filter((one) => one !== uri)),
    async end(owner, sessionId) {
      await records.remove(owner, nameOf(sessionId));
      await published(owner, sessionId);
    },
    follow: (owner, sessionId, listener) =>
      subscriptionChanges.subscribe(topicOf(owner, sessionId), listener).unsubscribe,
  };
}

/** A request in a session that may subscribe. */
interface SubscribingRequest {
  readonly call: Pick<RouteCall, 'caller'>;
  readonly sessionId: string;
  readonly handedOver: HandedOver;
}

/** Registers the handlers for subscriptions with the server of a session's request. */
export function registerSubscriptions(
  deps: SubscriptionDeps & Pick<McpDeps, 'turns' | 'onFault'>,
  server: Server,
  { call, sessionId, handedOver }: SubscribingRequest,
): void {
  const { content } = deps.turns;
  if (!content.offers.resources) return;
  const subscriptions = createSubscriptions(deps);
  const guarded = guardedBy(deps.onFault);
  const caller = userOf(call.caller);
  server.setRequestHandler('resources/subscribe', ({ params: { uri } }, { mcpReq: { signal } }) =>
    guarded(signal, async () => {
      if (uri.length > URI_LENGTH_MAX)
        throw new ParleyError('invalid_request', `An address has at most ${URI_LENGTH_MAX} characters.`);
      let isChanged = false;
      const onChange = () => {
        isChanged = true;
      };
      const held = await content.watch({ caller, principal: caller, signal }, uri, onChange);
      if (held === undefined) throw new ResourceNotFoundError(uri);
      handedOver.put(sessionId, uri, { hasChanged: () => isChanged, release: held.release });
      await subscriptions.add(caller, sessionId, uri);
      return {};
    }),
  );
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }, { mcpReq: { signal } }) =>
    guarded(signal, async () => {
      await subscriptions.remove(caller, sessionId, uri);
      return {};
    }),
  );
}
