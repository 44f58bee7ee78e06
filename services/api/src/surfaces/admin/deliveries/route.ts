import { bucketOfRecordId } from '@parley/core/domain/ids';
import type { Caller } from '@parley/shared/domain/caller';
import { LISTED_STATES } from '@parley/shared/ports/tenant-lists';
import { z } from 'zod';
import { operator, type Route, route } from '../../../http/route.ts';
import { cursorsOf } from '../cursor.ts';
import type { AdminDeps } from '../deps.ts';
import { SAMPLE_ADMIN_DELIVERY } from '../examples.ts';
import type { ExportedList, ReplyWithList } from '../exports.ts';
import { readAdminPage } from '../page.ts';
import { columnsOf, exactly, is, LIST_DESCRIPTION, LIST_QUERY, NEXT, statusFilter } from '../query.ts';
import { deadLetterList, loadOutstanding, type SeenDelivery, taskOf } from './load.ts';
import { AdminDelivery, DELIVERY_STATES, deliveryView, stateOf } from './view.ts';

const { conversationId: _, ...LISTED } = LIST_QUERY;

const DeliveryQuery = z.strictObject({
  ...LISTED,
  state: z
    .enum(LISTED_STATES)
    .default('open')
    .describe(
      '`open`: what is outstanding, by the time since which it is. `ended`: webhooks that were given up, by the time of that.',
    ),
  status: statusFilter(DELIVERY_STATES),
  kind: exactly('those of this kind'),
  record: exactly('those of this question or approval, by its id'),
});
type DeliveryQuery = z.infer<typeof DeliveryQuery>;

const COLUMNS = columnsOf(AdminDelivery);

/** What Parley delivers outside for a tenant, and has not delivered. */
export function deliveriesRoute(deps: AdminDeps, reply: ReplyWithList): Route {
  return route({
    method: 'GET',
    path: '/v1/admin/deliveries',
    proof: operator(),
    query: DeliveryQuery,
    docs: {
      group: 'Operations',
      summary: 'List what a tenant has not been delivered',
      description: `${LIST_DESCRIPTION} Webhooks, updates of A2A tasks, and messages of a channel such as Slack, from the commit that notes them until they are delivered; and webhooks that were given up. Contains no content, and of an address the host alone.`,
      example: { query: '?status=retrying', reply: { deliveries: [SAMPLE_ADMIN_DELIVERY] } },
      replies: {
        200: { description: 'A page', schema: z.object({ deliveries: z.array(AdminDelivery), ...NEXT }) },
      },
    },
    async handle(call) {
      const { caller, query } = call;
      await call.admitted;
      const page = pagesOf(deps, caller, query);
      return reply(call, query, { name: 'deliveries', columns: COLUMNS, page });
    },
  });
}

/** Reads the pages of the list that a query asks for. */
function pagesOf(deps: AdminDeps, { tenant }: Caller, query: DeliveryQuery): ExportedList['page'] {
  const { cursor: _cursor, limit: _limit, format: _format, ...list } = query;
  const { state, order, userId, record, olderThanSeconds, youngerThanSeconds } = list;
  const cursors = cursorsOf({ ...list, tenant, kind: 'deliveries', of: list.kind });
  const bucket = record === undefined ? undefined : bucketOfRecordId(record);
  const slice = {
    tenant,
    kind: 'deliveries',
    state,
    order,
    ...(userId !== undefined && { userId }),
    ...(bucket !== undefined && { bucket }),
    ...(olderThanSeconds !== undefined && { minAgeMs: olderThanSeconds * 1_000 }),
    ...(youngerThanSeconds !== undefined && { maxAgeMs: youngerThanSeconds * 1_000 }),
  } as const;
  return async (cursor, limit) => {
    const { lists, load } = listOf(deps, tenant, state);
    const { items, next } = await readAdminPage(lists, {
      slice,
      after: cursor === undefined ? undefined : cursors.parse(cursor),
      limit,
      load,
      hasEnded: ({ letter }) => letter !== undefined,
      keeps: (delivery) => isWanted(delivery, list),
    });
    return {
      views: items.map(deliveryView),
      ...(next !== undefined && { nextCursor: cursors.format(next) }),
    };
  };
}

/** Where the places of a state are listed, and how what is there is read. */
function listOf(deps: AdminDeps, tenant: string, state: DeliveryQuery['state']) {
  if (state === 'ended') {
    const letters = deadLetterList(deps);
    return { lists: letters, load: letters.load };
  }
  const lists = {
    slice: deps.tenantLists.slice,
    async mend(_tenant: string, _kind: string, member: string) {
      const task = taskOf(member);
      if (task !== undefined) await deps.outbox.unlist(task, tenant);
    },
  };
  return {
    lists,
    load: (_members: readonly string[], places: Parameters<typeof loadOutstanding>[1]) =>
      loadOutstanding(deps, places),
  };
}

type Filters = Omit<DeliveryQuery, 'cursor' | 'limit' | 'format'>;

function isWanted(delivery: SeenDelivery, filters: Filters): boolean {
  const { about, kind, at, now } = delivery;
  const { olderThanSeconds = 0, youngerThanSeconds = Infinity } = filters;
  const ageSeconds = (now - at) / 1_000;
  return (
    is(filters.kind, kind) &&
    is(filters.userId, about.stream?.userId) &&
    is(filters.streamRequestId, about.stream?.streamRequestId) &&
    is(filters.record, about.elicitationId, about.approvalId) &&
    (filters.status?.includes(stateOf(delivery)) ?? true) &&
    ageSeconds >= olderThanSeconds &&
    ageSeconds <= youngerThanSeconds
  );
}
