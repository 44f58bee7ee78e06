import { bucketOfRecordId } from '@parley/core/domain/ids';
import { LISTED_STATES, type ListPlace } from '@parley/shared/ports/tenant-lists';
import { z } from 'zod';
import type { Route } from '../../../http/route.ts';
import { adminRoute } from '../admin-route.ts';
import type { AdminDeps } from '../deps.ts';
import { SAMPLE_ADMIN_DELIVERY } from '../examples.ts';
import type { ReplyWithList } from '../exports.ts';
import { pagesOf } from '../page.ts';
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

/** The route that lists a tenant's outstanding and dead deliveries. */
export function deliveriesRoute(deps: AdminDeps, reply: ReplyWithList): Route {
  return adminRoute({
    method: 'GET',
    path: '/v1/admin/deliveries',
    query: DeliveryQuery,
    docs: {
      summary: 'List what a tenant has not been delivered',
      description: `${LIST_DESCRIPTION} Webhooks, updates of A2A tasks, and messages of a channel such as Slack, from the commit that notes them until they are delivered; and webhooks that were given up. Contains no content, and of an address the host alone.`,
      example: { query: '?status=retrying', reply: { deliveries: [SAMPLE_ADMIN_DELIVERY] } },
      replies: {
        200: { description: 'A page', schema: z.object({ deliveries: z.array(AdminDelivery), ...NEXT }) },
      },
    },
    async handle(call) {
      const { caller, query } = call;
      const { state, record, kind: of } = query;
      const { load, ...lists } = listOf(deps, state);
      // A cursor belongs to these filters. `kind` is renamed, because it is also the name of the list.
      const asked = { ...query, of };
      const page = pagesOf(lists, caller, asked, {
        kind: 'deliveries',
        bucket: record === undefined ? undefined : bucketOfRecordId(record),
        load,
        hasEnded: ({ letter }) => letter !== undefined,
        keeps: (delivery) => isWanted(delivery, query),
        viewOf: deliveryView,
      });
      return reply(call, query, { name: 'deliveries', columns: COLUMNS, page });
    },
  });
}

/** The list of places for a state, and the function that reads them. */
function listOf(deps: AdminDeps, state: DeliveryQuery['state']) {
  if (state === 'ended') return deadLetterList(deps);
  return {
    slice: deps.tenantLists.slice,
    async mend(tenant: string, _kind: string, member: string) {
      const task = taskOf(member);
      if (task !== undefined) await deps.outbox.unlist(task, tenant);
    },
    load: (_members: readonly string[], places: readonly ListPlace[]) => loadOutstanding(deps, places),
  };
}

function isWanted(delivery: SeenDelivery, filters: DeliveryQuery): boolean {
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
