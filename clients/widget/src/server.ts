/**
 * The server object that a page gives to all cards and inboxes. Its parts are in `server/`: calls, caches, connection, polling.
 */

import { type Approval, isPending, newerApproval } from './approval.ts';
import { createServerClock } from './clock.ts';
import { type Elicitation, isOpen, newer } from './elicitation.ts';
import { createCache, type RecordKind } from './server/cache.ts';
import { createCalls } from './server/calls.ts';
import { createServerConnection } from './server/connection.ts';
import { createPageLifecycle } from './server/page.ts';
import type { Source } from './server/polling.ts';
import { Refusal } from './server/refusal.ts';
import type { Connection, ElicitationServer, ElicitationServerOptions } from './server/type.ts';

export { type Approval, isApproval } from './approval.ts';
export { type Elicitation, isElicitation } from './elicitation.ts';
export { Refusal } from './server/refusal.ts';
export type {
  Answer,
  ApprovalServer,
  Connection,
  ElicitationServer,
  ElicitationServerOptions,
} from './server/type.ts';

/**
 * Creates a page's connection to Parley. Nothing is sent until something is followed.
 *
 * @example
 * const server = createElicitationServer({ baseUrl: 'https://parley.example.com', getToken: () => session.token() });
 */
export function createElicitationServer(options: ElicitationServerOptions): ElicitationServer {
  const { baseUrl = '', pollMs = 4_000, hiddenMs = 10_000, retryMs = [500, 15_000] } = options;
  const clock = createServerClock();
  const calls = createCalls({
    baseUrl,
    getToken: () => options.getToken(),
    ...(options.fetch !== undefined && { fetch: options.fetch }),
    retryMs,
    onTime: clock.note,
  });
  const elicitations = createSource<Elicitation>(
    { idOf: ({ elicitationId }) => elicitationId, isOpen, newer },
    calls.read,
    calls.listOpen,
  );
  const approvals = createSource<Approval>(
    { idOf: ({ approvalId }) => approvalId, isOpen: isPending, newer: newerApproval },
    calls.readApproval,
    calls.listPending,
  );
  const page = options.page ?? createPageLifecycle();
  const times = { pollMs, hiddenMs, retryMs, onTime: clock.note };
  const connection = createServerConnection({ calls, elicitations, approvals, page, ...times });

  return {
    now: clock.now,
    noteTime: (serverTime) => clock.note(serverTime),
    read: (id) => reading(elicitations, calls.read(id)),
    answer: (id, answer) => reading(elicitations, calls.answer(id, answer), (refusal) => refusal.elicitation),
    follow: follow(elicitations),
    followInbox: (...following) => followOpen(elicitations, ...following),
    readApproval: (id) => reading(approvals, calls.readApproval(id)),
    decide: (id, choice) => reading(approvals, calls.decide(id, choice), (refusal) => refusal.approval),
    followApproval: follow(approvals),
    followApprovals: (...following) => followOpen(approvals, ...following),
    listRemembered: calls.listRemembered,
    revokeRemembered: calls.revokeRemembered,
    close: connection.close,
  };

  function follow<Item>(source: Source<Item>) {
    return (
      id: string,
      onChange: (item: Item) => void,
      onConnection?: (state: Connection) => void,
      onGone?: () => void,
    ) => {
      onConnection?.(source.cache.connection());
      const unfollow = source.cache.follow(id, { onChange, onConnection, onGone });
      connection.followed(source, id);
      return () => {
        unfollow();
        connection.unfollowed();
      };
    };
  }

  function followOpen<Item>(
    source: Source<Item>,
    onOpen: (open: readonly Item[]) => void,
    onConnection?: (state: Connection) => void,
  ): () => void {
    onConnection?.(source.cache.connection());
    const unfollow = source.cache.followInbox({ onOpen, onConnection });
    connection.followed(source);
    return () => {
      unfollow();
      connection.unfollowed();
    };
  }
}

function createSource<Item extends { readonly status: string; readonly createdAt?: string }>(
  kind: RecordKind<Item>,
  read: Source<Item>['read'],
  listOpen: Source<Item>['listOpen'],
): Source<Item> {
  return { cache: createCache(kind), idOf: kind.idOf, read, listOpen };
}

/** Returns the result of a call and also passes it to the cache; for a refusal, the record in the refusal. */
async function reading<Item>(
  { cache }: Source<Item>,
  call: Promise<Item>,
  itemOf: (refusal: Refusal) => Item | undefined = () => undefined,
): Promise<Item> {
  try {
    const item = await call;
    cache.update(item);
    return item;
  } catch (error) {
    const item = error instanceof Refusal ? itemOf(error) : undefined;
    if (item !== undefined) cache.update(item);
    throw error;
  }
}
