/** The approval calls of the hub API. The rules for decisions are in `shared/src/domain/approvals`. */

import { Approval } from '@parley/core/domain/approvals/approval';
import { APPROVAL_STATUSES } from '@parley/core/domain/approvals/status';
import { UserId } from '@parley/core/domain/elicitations/ask-input';
import { ApprovalInput } from '@parley/shared/domain/approvals/response-input';
import { toApprovalWire } from '@parley/shared/domain/approvals/wire';
import { notFound } from '@parley/shared/domain/caller';
import { ApprovalGrant } from '@parley/shared/elicitations/approvals/grants';
import type { Engine } from '@parley/shared/elicitations/engine';
import { z } from 'zod';
import { SAMPLE_APPROVAL } from '../../http/docs/sample-approval.ts';
import { admitAnswer, type CallLimits } from '../../http/limits/call-limits.ts';
import { ownerOf, userOf } from '../../http/reply.ts';
import { bearer, json, jsonBody, type Route, route } from '../../http/route.ts';

const CURSOR = /^\d{1,16}\.ap_[A-Za-z0-9_-]{24}$/;
const LIMIT_MAX = 200;

const Query = z.strictObject({
  status: z.enum(APPROVAL_STATUSES).optional(),
  userId: UserId.optional().describe('Required for a service.'),
  conversationId: z.string().max(128).optional(),
  cursor: z.string().regex(CURSOR, 'must be the nextCursor of the page before').optional(),
  limit: z.coerce.number().int().min(1).max(LIMIT_MAX).default(50),
});
const Page = z.object({ approvals: z.array(Approval), nextCursor: z.string().optional() });
const Grants = z.object({ grants: z.array(ApprovalGrant) });

const Revoked = z.object({ revoked: z.literal(true) });

const SAMPLE_GRANT: ApprovalGrant = {
  grantId: 'pXq2Yw5nC3l8bZ0vR7tKdJ1mHs4uFg6eA9iOxQ2WcT0',
  agent: SAMPLE_APPROVAL.agent,
  agentId: 'desk',
  server: 'bookings',
  tool: 'cancel',
  rule: 'Ck8VJm1z5s0wR2dQ7yXb4nT6uHe9aPoL3gFiKvZqM8c',
  conversationId: 'c-42',
  approvalId: SAMPLE_APPROVAL.approvalId,
  grantedAt: '2026-01-15T09:30:05.000Z',
  expiresAt: '2026-01-16T09:30:05.000Z',
};

type ApprovalEngine = Pick<Engine, 'approvals'>;

/** The approval calls of the hub API: list, read, decide, and manage remembered approvals. */
export function approvalRoutes(engine: ApprovalEngine, limits: CallLimits): Route[] {
  return [
    listRoute(engine),
    readRoute(engine),
    decideRoute(engine, limits),
    grantsRoute(engine),
    revokeRoute(engine),
  ];
}

function listRoute(engine: ApprovalEngine): Route {
  return route({
    method: 'GET',
    path: '/v1/approvals',
    proof: bearer('user', 'read'),
    query: Query,
    docs: {
      group: 'Approvals',
      summary: 'List approvals, newest first',
      example: { reply: { approvals: [SAMPLE_APPROVAL] } },
      replies: { 200: { description: 'A page', schema: Page } },
    },
    async handle({ caller, query, admitted }) {
      const { userId, status, conversationId, cursor, limit } = query;
      const owner = ownerOf(caller, userId);
      await admitted;
      const page = await engine.approvals.list({
        owner,
        limit,
        ...(status !== undefined && { statuses: [status] }),
        ...(conversationId !== undefined && { conversationId }),
        ...(cursor !== undefined && { cursor }),
      });
      const shown = { now: page.now, content: true };
      return json(200, {
        approvals: page.rows.map((row) => toApprovalWire(row, shown)),
        ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }),
      });
    },
  });
}

function readRoute(engine: ApprovalEngine): Route {
  return route({
    method: 'GET',
    path: '/v1/approvals/:id',
    proof: bearer('user', 'read'),
    docs: {
      group: 'Approvals',
      summary: 'Read an approval',
      example: { reply: SAMPLE_APPROVAL },
      replies: { 200: { description: 'The approval', schema: Approval } },
      errors: ['not_found'],
    },
    async handle({ caller, params, admitted }) {
      await admitted;
      const { row, now } = await engine.approvals.read(caller, idOf(params.id));
      return json(200, toApprovalWire(row, { now, content: true }));
    },
  });
}

function decideRoute(engine: ApprovalEngine, limits: CallLimits): Route {
  return route({
    method: 'POST',
    path: '/v1/approvals/:id/response',
    proof: bearer('user'),
    body: jsonBody(ApprovalInput),
    docs: {
      group: 'Approvals',
      summary: 'Approve, edit or deny a call',
      example: { body: { decision: 'approve' }, reply: SAMPLE_APPROVAL },
      replies: { 200: { description: 'Recorded', schema: Approval } },
      errors: ['not_found', 'invalid_answer', 'already_settled', 'expired'],
    },
    async handle(call) {
      const caller = userOf(call.caller);
      const id = idOf(call.params.id);
      const admitted = admitAnswer(limits, call, id);
      const decision = { caller, id, response: call.body, surface: 'api', admitted };
      const { row, now } = await engine.approvals.decide(decision);
      return json(200, toApprovalWire(row, { now, content: true }));
    },
  });
}

function grantsRoute(engine: ApprovalEngine): Route {
  return route({
    method: 'GET',
    path: '/v1/approval-grants',
    proof: bearer('user'),
    docs: {
      group: 'Approvals',
      summary: 'List remembered approvals',
      example: { reply: { grants: [SAMPLE_GRANT] } },
      replies: { 200: { description: 'All of them', schema: Grants } },
    },
    async handle({ caller, admitted }) {
      await admitted;
      return json(200, { grants: await engine.approvals.grants.list(userOf(caller)) });
    },
  });
}

function revokeRoute(engine: ApprovalEngine): Route {
  return route({
    method: 'DELETE',
    path: '/v1/approval-grants/:grantId',
    proof: bearer('user'),
    docs: {
      group: 'Approvals',
      summary: 'Revoke a remembered approval',
      description: 'The next call of its kind is asked for again.',
      example: { reply: { revoked: true } },
      replies: { 200: { description: 'The next call of its kind asks', schema: Revoked } },
      errors: ['not_found'],
    },
    async handle({ caller, params, admitted }) {
      await admitted;
      await engine.approvals.grants.revoke(userOf(caller), idOf(params.grantId));
      return json(200, { revoked: true });
    },
  });
}

function idOf(id: string | undefined): string {
  if (id === undefined) throw notFound();
  return id;
}
