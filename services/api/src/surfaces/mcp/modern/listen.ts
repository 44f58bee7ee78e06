import { setMaxListeners } from 'node:events';
import type { CreateMcpHandlerOptions, McpHttpHandler } from '@modelcontextprotocol/server';
import { isRecord } from '@parley/shared/domain/plain-record';
import { userOf } from '../../../http/reply.ts';
import type { Reply, RouteCall } from '../../../http/route.ts';
import { tooManySubscriptions } from '../content.ts';
import type { McpDeps } from '../deps.ts';
import { RPC, refusal, refusalWith } from '../json-rpc.ts';
import { knowsTasks, tasksMissing } from '../tasks/extension.ts';

type ServerEventBus = NonNullable<CreateMcpHandlerOptions['bus']>;
type ServerEvent = Parameters<ServerEventBus['publish']>[0];

/** What one `subscriptions/listen` watches. */
export interface Listening {
  /** The request, with the resources that are watched: the acknowledgement names those. */
  readonly body: unknown;
  /** What its stream tells, and nobody else's. */
  readonly bus: McpHttpHandler['bus'];
  readonly release: () => void;
}

export function isListening(body: unknown): boolean {
  return isRecord(body) && body.method === 'subscriptions/listen';
}

/** The refusal of a request that may not listen; nothing for any other request. */
export function refusalOfListening(
  { subscriptionsMax }: Pick<McpDeps, 'subscriptionsMax'>,
  call: Pick<RouteCall, 'body'>,
): Reply | undefined {
  const { body } = call;
  if (!isListening(body)) return undefined;
  if (resourcesIn(body).uris.length > subscriptionsMax)
    return refusal(call, 200, RPC.invalidParams, tooManySubscriptions(subscriptionsMax));
  // It would wait for what never comes.
  return namesTasks(body) ? refusalWith(call, 400, tasksMissing()) : undefined;
}

/** True for a subscription to tasks of a client that knows none. */
function namesTasks(body: unknown): boolean {
  const params = isRecord(body) && isRecord(body.params) ? body.params : {};
  const { notifications, _meta } = params;
  const isNamed = isRecord(notifications) && notifications.taskIds !== undefined;
  return isNamed && !knowsTasks(isRecord(_meta) ? _meta : {});
}

/**
 * Watches the resources that a `subscriptions/listen` names, each before it is acknowledged. Those that cannot be watched are
 * left out.
 */
export async function beginListening(
  { turns }: Pick<McpDeps, 'turns'>,
  { caller, body }: Pick<RouteCall, 'caller' | 'body'>,
  signal: AbortSignal,
): Promise<Listening> {
  const bus = createBus();
  const { uris, withUris } = resourcesIn(body);
  const reader = { caller, principal: userOf(caller), signal };
  // Each of the resources listens to it while it is begun.
  setMaxListeners(0, signal);
  const watches = await Promise.all(
    uris.map(async (uri) => {
      const listener = () => bus.publish({ kind: 'resource_updated', uri });
      const held = await turns.content.watch(reader, uri, listener).catch(() => undefined);
      return held === undefined ? [] : [{ uri, held }];
    }),
  );
  const held = watches.flat();
  return {
    body: withUris(held.map(({ uri }) => uri)),
    bus,
    release() {
      for (const one of held) one.held.release();
    },
  };
}

/** The resources in the filter of a request, and the request with others. */
function resourcesIn(body: unknown) {
  const params = isRecord(body) && isRecord(body.params) ? body.params : {};
  const filter = isRecord(params.notifications) ? params.notifications : {};
  const named: readonly unknown[] = Array.isArray(filter.resourceSubscriptions)
    ? filter.resourceSubscriptions
    : [];
  const uris = [...new Set(named.filter((one) => typeof one === 'string'))];
  return {
    uris,
    withUris(resourceSubscriptions: readonly string[]): unknown {
      // One that is not well formed is the SDK's to refuse.
      if (!isRecord(body) || uris.length < named.length) return body;
      return { ...body, params: { ...params, notifications: { ...filter, resourceSubscriptions } } };
    },
  };
}

function createBus(): ServerEventBus {
  const listeners = new Set<(event: ServerEvent) => void>();
  return {
    publish(event) {
      for (const listener of listeners) listener(event);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
