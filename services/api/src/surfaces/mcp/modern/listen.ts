/** Serves `subscriptions/listen`: changes of resources and tasks. Sessions of older revisions are in `legacy/`. */

import { setMaxListeners } from 'node:events';
import { isRecord } from '@parley/core/domain/plain-record';
import { z } from 'zod';
import { userOf } from '../../../http/reply.ts';
import type { Reply, RouteCall } from '../../../http/route.ts';
import { principalOf } from '../../../turns/principal.ts';
import type { Calls } from '../calls.ts';
import { showsOfEnvelope } from '../capabilities.ts';
import type { McpDeps } from '../deps.ts';
import { eventText } from '../http/accept.ts';
import { notification, RPC, refusal, refusalWith } from '../json-rpc.ts';
import { knowsTasks, tasksMissing } from '../tasks/extension.ts';
import { findTask } from '../tasks/task.ts';
import { watchTask } from '../tasks/watch-tasks.ts';
import { createNotices } from '../waiting/notices.ts';

/** The watches of one `subscriptions/listen`. */
interface Listening {
  /** The request, reduced to the resources that are watched, which the SDK acknowledges. */
  readonly body: unknown;
  /** Makes the stream of the request from the SDK's stream, whose first piece is the acknowledgement. */
  stream(pieces: AsyncIterator<string, unknown>): AsyncGenerator<string, 'end'>;
  readonly release: () => void;
}

interface ListenDeps extends McpDeps {
  readonly calls: Calls;
}

// The SDK's own value.
const QUIET_MS = 15_000;
const KEEP_ALIVE = ': keepalive\n\n';
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const DATA = 'data: ';

export function isListening(body: unknown): boolean {
  return isRecord(body) && body.method === 'subscriptions/listen';
}

/** The refusal of a request that may not listen; undefined for all other requests. */
export function refusalOfListening(
  { subscriptionsMax }: Pick<McpDeps, 'subscriptionsMax'>,
  call: Pick<RouteCall, 'body'>,
): Reply | undefined {
  if (!isListening(call.body)) return undefined;
  const { uris, tasks, envelope } = filterIn(call.body);
  if (tasks === 'malformed') return refusal(call, 200, RPC.invalidParams, 'taskIds must be a list of texts.');
  // Without the extension, the client would wait for reports that never come.
  if (tasks !== undefined && !knowsTasks(envelope)) return refusalWith(call, 400, tasksMissing());
  if (uris.length + (tasks?.length ?? 0) <= subscriptionsMax) return undefined;
  const message = `At most ${subscriptionsMax} resources and tasks can be listened to at once.`;
  return refusal(call, 200, RPC.invalidParams, message);
}

/**
 * Watches the resources and tasks that a `subscriptions/listen` names, before they are acknowledged. Those that cannot be
 * watched are omitted. Throws `unavailable` and `rate_limited`.
 */
export async function beginListening(
  deps: ListenDeps,
  { caller, body, admitted }: Pick<RouteCall, 'caller' | 'body' | 'admitted'>,
  signal: AbortSignal,
): Promise<Listening> {
  const { uris, tasks, envelope, withUris } = filterIn(body);
  await admitted;
  const notices = createNotices(signal);
  // Every watch adds a listener to the signal.
  setMaxListeners(0, signal);
  const owner = principalOf(userOf(caller));
  const ids = Array.isArray(tasks) ? tasks : [];
  const found = await Promise.all(
    ids.map((streamRequestId) => findTask(deps, { ...owner, streamRequestId })),
  );
  const runs = found.filter((run) => run !== undefined);
  const reader = { caller, principal: userOf(caller), signal };
  const watches = await Promise.all(
    uris.map(async (uri) => {
      const tell = async () => notification('notifications/resources/updated', { uri });
      const listener = () => notices.changed(`resource ${uri}`, tell);
      const held = await deps.turns.content.watch(reader, uri, listener).catch(() => undefined);
      return held === undefined ? [] : [{ uri, held }];
    }),
  );
  const held = watches.flat();
  const following = { shows: showsOfEnvelope(envelope), notices, signal };
  return {
    body: withUris(held.map(({ uri }) => uri)),
    async *stream(pieces) {
      const first = await pieces.next();
      if (first.done === true || held.length + runs.length === 0) {
        for (let piece = first; piece.done !== true; piece = await pieces.next()) yield piece.value;
        return 'end';
      }
      await pieces.return?.();
      const { params } = messageIn(first.value);
      const { notifications, _meta } = params;
      const taskIds = runs.map((run) => run.streamRequestId);
      const honored = { ...notifications, ...(taskIds.length > 0 && { taskIds }) };
      yield eventText(notification(ACKNOWLEDGED, { ...params, notifications: honored }));
      for (const run of runs) void watchTask(deps, run, following);
      for await (const notice of notices.told(QUIET_MS)) {
        if (notice === undefined) yield KEEP_ALIVE;
        else yield eventText({ ...notice, params: { ...notice.params, _meta } });
      }
      return 'end';
    },
    release() {
      for (const one of held) one.held.release();
    },
  };
}
const Acknowledgement = z.looseObject({
  params: z.looseObject({ notifications: z.looseObject({}), _meta: z.looseObject({}) }),
});

/** The acknowledgement in a piece of the SDK's stream. */
function messageIn(piece: unknown): z.infer<typeof Acknowledgement> {
  const text = String(piece);
  return Acknowledgement.parse(JSON.parse(text.slice(text.indexOf(DATA) + DATA.length)));
}

/** The resources that a request names, and the request with other resources. */
function filterIn(body: unknown) {
  const params = isRecord(body) && isRecord(body.params) ? body.params : {};
  const filter = isRecord(params.notifications) ? params.notifications : {};
  const named: readonly unknown[] = Array.isArray(filter.resourceSubscriptions)
    ? filter.resourceSubscriptions
    : [];
  const uris = [...new Set(named.filter((one) => typeof one === 'string'))];
  const tasks = TaskIds.safeParse(filter.taskIds);
  return {
    uris,
    tasks: tasks.success ? tasks.data : ('malformed' as const),
    envelope: isRecord(params._meta) ? params._meta : {},
    withUris(resourceSubscriptions: readonly string[]): unknown {
      // The SDK refuses malformed requests, so they stay unchanged.
      if (!isRecord(body) || uris.length < named.length) return body;
      return { ...body, params: { ...params, notifications: { ...filter, resourceSubscriptions } } };
    },
  };
}

const TaskIds = z
  .array(z.string())
  .transform((ids) => [...new Set(ids)])
  .optional();
