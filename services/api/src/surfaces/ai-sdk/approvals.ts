import { Approval } from '@parley/core/domain/approvals/approval';
import { isApprovalId } from '@parley/core/domain/ids';
import { ApprovalInput } from '@parley/shared/domain/approvals/response-input';
import { toApprovalWire } from '@parley/shared/domain/approvals/wire';
import type { Engine } from '@parley/shared/elicitations/engine';
import { z } from 'zod';
import { SAMPLE_APPROVAL } from '../../http/docs/sample-approval.ts';
import { admitAnswer, type CallLimits } from '../../http/limits/call-limits.ts';
import { userOf } from '../../http/reply.ts';
import { bearer, json, jsonBody, type Route, route } from '../../http/route.ts';
import type { ChatMessage } from '../../turns/messages.ts';

const ChatApprovalInput = ApprovalInput.extend({
  conversationId: z.string(),
  approvalId: z.string(),
}).meta({ id: 'ChatApprovalInput' });

const RespondedPart = z.looseObject({
  state: z.literal('approval-responded'),
  approval: z.looseObject({
    id: z.string().refine(isApprovalId),
    approved: z.boolean(),
    reason: z.string().max(2_000).optional(),
  }),
});

/** A decision in a message, as `addToolApprovalResponse` of the AI SDK records it. */
export interface DecisionPart {
  readonly id: string;
  readonly response: ApprovalInput;
}

/** The decisions in the messages of a request. */
interface SentDecisions {
  /** Those of the newest assistant's message that has any. */
  readonly decisions: readonly DecisionPart[];
  /** True when the request is made for them: the reply continues their turn. Else they came beside a message. */
  readonly isRequest: boolean;
}

/**
 * Reads the decisions of a request. It is made for them when an assistant's message is the last one, or when `messageId`
 * names theirs: the AI SDK continues an earlier message in this way, below a message that was not taken.
 */
export function decisionsIn(messages: readonly ChatMessage[], messageId: unknown): SentDecisions {
  const decided = messages.findLast((message) => decisionsOf(message).length > 0);
  if (decided === undefined) return { decisions: [], isRequest: false };
  const isLast = messages.at(-1)?.role === 'assistant';
  const isRequest = isLast || (messageId !== undefined && decided.id === messageId);
  return { decisions: decisionsOf(decided), isRequest };
}

/** The decisions of a message. Calls with an outcome have none any more. */
function decisionsOf({ role, parts = [] }: ChatMessage): readonly DecisionPart[] {
  if (role !== 'assistant') return [];
  return parts.flatMap((part): readonly DecisionPart[] => {
    const read = RespondedPart.safeParse(part);
    if (!read.success) return [];
    const { id, approved, reason } = read.data.approval;
    if (approved) return [{ id, response: { decision: 'approve' as const } }];
    return [{ id, response: { decision: 'deny' as const, ...(reason !== undefined && { reason }) } }];
  });
}

/** Decide on a call from a chat, while its stream goes on. */
export function approvalRoute({
  engine,
  limits,
}: {
  readonly engine: Pick<Engine, 'approvals'>;
  readonly limits: CallLimits;
}): Route {
  return route({
    method: 'POST',
    path: '/run/api/approval-responses',
    proof: bearer('user'),
    body: jsonBody(ChatApprovalInput),
    docs: {
      group: 'Chats',
      summary: 'Approve, edit or deny a call from a chat',
      example: {
        body: { conversationId: 'c-42', approvalId: SAMPLE_APPROVAL.approvalId, decision: 'approve' },
        reply: SAMPLE_APPROVAL,
      },
      replies: { 200: { description: 'Recorded', schema: Approval } },
      errors: ['not_found', 'invalid_answer', 'already_settled', 'expired'],
    },
    async handle(call) {
      const { conversationId, approvalId: id, ...response } = call.body;
      const caller = userOf(call.caller);
      const admitted = admitAnswer(limits, call, id);
      const decision = { caller, id, response, surface: 'chat', conversationId, admitted };
      const { row, now } = await engine.approvals.decide(decision);
      return json(200, toApprovalWire(row, { now, content: true }));
    },
  });
}
