/** The routes that list a tenant's records. Reading a page is in `page.ts`, exporting in `exports.ts`. */

import { APPROVAL_STATUSES, isApprovalEnded } from '@parley/core/domain/approvals/status';
import { isTerminal, STATUSES } from '@parley/core/domain/elicitations/status';
import { z } from 'zod';
import type { Route } from '../../http/route.ts';
import { adminRoute } from './admin-route.ts';
import { deliveriesRoute } from './deliveries/route.ts';
import { type AdminDeps, mayReadContent } from './deps.ts';
import { SAMPLE_ADMIN_APPROVAL, SAMPLE_ADMIN_ELICITATION, SAMPLE_ADMIN_TURN } from './examples.ts';
import { createListReplies, type ReplyWithList } from './exports.ts';
import { loadApprovals, loadQuestions, loadTurns } from './load.ts';
import { type ListQuery, pagesOf } from './page.ts';
import { columnsOf, exactly, is, LIST_DESCRIPTION, LIST_QUERY, NEXT, statusFilter } from './query.ts';
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

/** The routes that list a tenant's questions, approvals, turns and deliveries. */
export function listRoutes(deps: AdminDeps): Route[] {
  const reply = createListReplies(deps.takePage);
  return [
    elicitationsRoute(deps, reply),
    approvalsRoute(deps, reply),
    turnsRoute(deps, reply),
    deliveriesRoute(deps, reply),
  ];
}

const QUESTION_COLUMNS = columnsOf(AdminElicitation, 'elicitation');
const APPROVAL_COLUMNS = columnsOf(AdminApproval, 'approval');
const TURN_COLUMNS = columnsOf(AdminTurn);

function elicitationsRoute(deps: AdminDeps, reply: ReplyWithList): Route {
  return adminRoute({
    method: 'GET',
    path: '/v1/admin/elicitations',
    query: ElicitationQuery,
    docs: {
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
      const content = mayReadContent(caller);
      const page = pagesOf(deps.tenantLists, caller, query, {
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
  return adminRoute({
    method: 'GET',
    path: '/v1/admin/approvals',
    query: ApprovalQuery,
    docs: {
      summary: "List a tenant's approvals",
      description: LIST_DESCRIPTION,
      example: { query: '?state=ended&status=denied', reply: { approvals: [SAMPLE_ADMIN_APPROVAL] } },
      replies: {
        200: { description: 'A page', schema: z.object({ approvals: z.array(AdminApproval), ...NEXT }) },
      },
    },
    async handle(call) {
      const { caller, query } = call;
      const content = mayReadContent(caller);
      const page = pagesOf(deps.tenantLists, caller, query, {
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
  return adminRoute({
    method: 'GET',
    path: '/v1/admin/turns',
    query: TurnQuery,
    docs: {
      summary: "List a tenant's turns",
      description: `${LIST_DESCRIPTION} Runs of delegates are listed, too, with their \`parent\`.`,
      example: { query: '?status=orphaned,queued', reply: { turns: [SAMPLE_ADMIN_TURN] } },
      replies: { 200: { description: 'A page', schema: z.object({ turns: z.array(AdminTurn), ...NEXT }) } },
    },
    async handle(call) {
      const { caller, query } = call;
      const page = pagesOf(deps.tenantLists, caller, query, {
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
  query: ListQuery,
): boolean {
  return (
    is(query.userId, one.userId) &&
    is(query.conversationId, one.conversationId) &&
    is(query.streamRequestId, one.streamRequestId)
  );
}
