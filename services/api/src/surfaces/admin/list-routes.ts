import { APPROVAL_STATUSES, isApprovalEnded } from '@parley/core/domain/approvals/status';
import { isTerminal, STATUSES } from '@parley/core/domain/elicitations/status';
import type { Caller } from '@parley/shared/domain/caller';
import type { ListedKind } from '@parley/shared/ports/tenant-lists';
import { z } from 'zod';
import { operator, type Route, route } from '../../http/route.ts';
import { cursorsOf } from './cursor.ts';
import { deliveriesRoute } from './deliveries/route.ts';
import { type AdminDeps, mayReadContent } from './deps.ts';
import { SAMPLE_ADMIN_APPROVAL, SAMPLE_ADMIN_ELICITATION, SAMPLE_ADMIN_TURN } from './examples.ts';
import { createListReplies, type ExportedList, type ReplyWithList } from './exports.ts';
import { loadApprovals, loadQuestions, loadTurns } from './load.ts';
import { type AdminPageRequest, readAdminPage } from './page.ts';
import {
  columnsOf,
  exactly,
  is,
  LIST_DESCRIPTION,
  LIST_QUERY,
  type ListFormat,
  NEXT,
  statusFilter,
} from './query.ts';
import { AdminApproval, approvalView } from './views/approval-view.ts';
import { AdminElicitation, elicitationView } from './views/elicitation-view.ts';
import { AdminTurn, TURN_STATES, turnView } from './views/turn-view.ts';

const ElicitationQuery = z.strictObject({
  ...LIST_QUERY,
  status: statusFilter(STATUSES),
  agent: exactly('those that the turns of this agent asked'),
  trigger: exactly('those with this trigger'),
  tool: exactly('those about this tool: its `toolId` or `toolName`'),
  surface: exactly('those that were settled on this surface'),
  tag: exactly('those with this tag'),
});
const ApprovalQuery = z.strictObject({
  ...LIST_QUERY,
  status: statusFilter(APPROVAL_STATUSES),
  agent: exactly('those of this agent'),
  tool: exactly('those of this tool: its server or its name'),
  surface: exactly('those that were settled on this surface'),
  tag: exactly('those with this tag'),
});
const TurnQuery = z.strictObject({
  ...LIST_QUERY,
  status: statusFilter(TURN_STATES),
  agent: exactly('those of this agent'),
});

interface CommonQuery {
  readonly state: 'open' | 'ended';
  readonly order: 'newest' | 'oldest';
  readonly olderThanSeconds?: number | undefined;
  readonly youngerThanSeconds?: number | undefined;
  readonly userId?: string | undefined;
  readonly conversationId?: string | undefined;
  readonly streamRequestId?: string | undefined;
  readonly format?: ListFormat | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** The lists of a tenant: questions, approvals, turns and deliveries. */
export function listRoutes(deps: AdminDeps): Route[] {
  const reply = createListReplies(deps.takePage);
  return [
    elicitationsRoute(deps, reply),
    approvalsRoute(deps, reply),
    turnsRoute(deps, reply),
    deliveriesRoute(deps, reply),
  ];
}

interface ListedItems<Item> extends Pick<AdminPageRequest<Item>, 'load' | 'hasEnded' | 'keeps'> {
  readonly kind: ListedKind;
  readonly viewOf: (item: Item) => Readonly<Record<string, unknown>>;
}

const QUESTION_COLUMNS = columnsOf(AdminElicitation, 'elicitation');
const APPROVAL_COLUMNS = columnsOf(AdminApproval, 'approval');
const TURN_COLUMNS = columnsOf(AdminTurn);

/** Reads the pages of the list that a query asks for. */
function pagesOf<Item>(
  deps: AdminDeps,
  caller: Caller,
  query: CommonQuery,
  { viewOf, ...of }: ListedItems<Item>,
): ExportedList['page'] {
  return async (cursor, limit) => {
    const { items, ...rest } = await readPage(deps, caller, { ...query, cursor, limit }, of);
    return { views: items.map(viewOf), ...rest };
  };
}

/** Reads the page that a query asks for. */
async function readPage<Item>(
  { tenantLists }: AdminDeps,
  { tenant }: Caller,
  query: CommonQuery,
  { kind, ...of }: Omit<ListedItems<Item>, 'viewOf'>,
) {
  const { cursor, limit, format: _format, ...list } = query;
  const cursors = cursorsOf({ ...list, tenant, kind });
  const { state, order, userId, olderThanSeconds, youngerThanSeconds } = list;
  const page = await readAdminPage(tenantLists, {
    ...of,
    slice: {
      tenant,
      kind,
      state,
      order,
      ...(userId !== undefined && { userId }),
      ...(olderThanSeconds !== undefined && { minAgeMs: olderThanSeconds * 1_000 }),
      ...(youngerThanSeconds !== undefined && { maxAgeMs: youngerThanSeconds * 1_000 }),
    },
    after: cursor === undefined ? undefined : cursors.parse(cursor),
    limit,
  });
  return { items: page.items, ...(page.next !== undefined && { nextCursor: cursors.format(page.next) }) };
}

function elicitationsRoute(deps: AdminDeps, reply: ReplyWithList): Route {
  return route({
    method: 'GET',
    path: '/v1/admin/elicitations',
    proof: operator(),
    query: ElicitationQuery,
    docs: {
      group: 'Operations',
      summary: "List a tenant's questions",
      description: LIST_DESCRIPTION,
      example: { query: '?olderThanSeconds=600', reply: { elicitations: [SAMPLE_ADMIN_ELICITATION] } },
      replies: {
        200: {
          description: 'A page',
          schema: z.object({ elicitations: z.array(AdminElicitation), ...NEXT }),
        },
      },
    },
    async handle(call) {
      const { caller, query } = call;
      await call.admitted;
      const content = mayReadContent(caller);
      const page = pagesOf(deps, caller, query, {
        kind: 'elicitations',
        load: (ids) => loadQuestions(deps, caller.tenant, ids),
        hasEnded: ({ row }) => isTerminal(row.status),
        keeps: ({ row: { definition, status, settlement }, agent }) =>
          isOf(definition, query) &&
          (query.status?.includes(status) ?? true) &&
          is(query.agent, agent) &&
          is(query.trigger, definition.context.trigger) &&
          is(query.tool, definition.context.toolId, definition.context.toolName) &&
          is(query.surface, settlement?.surface) &&
          is(query.tag, ...(definition.tags ?? [])),
        viewOf: ({ row, now, agent }) => elicitationView(row, { now, agent, content }),
      });
      return reply(call, query, { name: 'elicitations', columns: QUESTION_COLUMNS, page });
    },
  });
}

function approvalsRoute(deps: AdminDeps, reply: ReplyWithList): Route {
  return route({
    method: 'GET',
    path: '/v1/admin/approvals',
    proof: operator(),
    query: ApprovalQuery,
    docs: {
      group: 'Operations',
      summary: "List a tenant's approvals",
      description: LIST_DESCRIPTION,
      example: { query: '?state=ended&status=denied', reply: { approvals: [SAMPLE_ADMIN_APPROVAL] } },
      replies: {
        200: { description: 'A page', schema: z.object({ approvals: z.array(AdminApproval), ...NEXT }) },
      },
    },
    async handle(call) {
      const { caller, query } = call;
      await call.admitted;
      const content = mayReadContent(caller);
      const page = pagesOf(deps, caller, query, {
        kind: 'approvals',
        load: (ids) => loadApprovals(deps, caller.tenant, ids),
        hasEnded: ({ row }) => isApprovalEnded(row.status),
        keeps: ({ row: { definition, status, settlement } }) =>
          isOf(definition, query) &&
          (query.status?.includes(status) ?? true) &&
          is(query.agent, definition.agentId) &&
          is(query.tool, definition.tool.server, definition.tool.name) &&
          is(query.surface, settlement?.surface) &&
          is(query.tag, ...(definition.tags ?? [])),
        viewOf: ({ row, now }) => approvalView(row, { now, content }),
      });
      return reply(call, query, { name: 'approvals', columns: APPROVAL_COLUMNS, page });
    },
  });
}

function turnsRoute(deps: AdminDeps, reply: ReplyWithList): Route {
  return route({
    method: 'GET',
    path: '/v1/admin/turns',
    proof: operator(),
    query: TurnQuery,
    docs: {
      group: 'Operations',
      summary: "List a tenant's turns",
      description: `${LIST_DESCRIPTION} Runs of delegates are listed, too, with their \`parent\`.`,
      example: { query: '?status=orphaned,queued', reply: { turns: [SAMPLE_ADMIN_TURN] } },
      replies: { 200: { description: 'A page', schema: z.object({ turns: z.array(AdminTurn), ...NEXT }) } },
    },
    async handle(call) {
      const { caller, query } = call;
      await call.admitted;
      const page = pagesOf(deps, caller, query, {
        kind: 'turns',
        load: (paths) => loadTurns(deps, caller.tenant, paths),
        hasEnded: ({ head }) => head.status !== 'running',
        keeps: ({ head, state }) =>
          isOf(head, query) && (query.status?.includes(state) ?? true) && is(query.agent, head.agent),
        viewOf: turnView,
      });
      return reply(call, query, { name: 'turns', columns: TURN_COLUMNS, page });
    },
  });
}

function isOf(
  one: { readonly userId: string; readonly conversationId: string; readonly streamRequestId: string },
  query: CommonQuery,
): boolean {
  return (
    is(query.userId, one.userId) &&
    is(query.conversationId, one.conversationId) &&
    is(query.streamRequestId, one.streamRequestId)
  );
}
