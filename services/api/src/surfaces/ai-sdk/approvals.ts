/** Reads decisions on calls as AI SDK clients send them. What decisions lead to is in `turns/approvals`. */

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

/** A decision in a message, in the form in which `addToolApprovalResponse` of the AI SDK records it. */
export interface DecisionPart {
  readonly id: string;
  readonly response: ApprovalInput;
}

/** The decisions in the messages of a request. */
interface SentDecisions {
  /** The decisions of the newest assistant message that contains any. */
  readonly decisions: readonly DecisionPart[];
  /**
   * True if the request was made to send them: the reply then continues their turn. False if they came together with a new
   * message.
   */
  readonly isRequest: boolean;
}

/**
 * Reads the decisions of a request. The request was made to send them if an assistant's message is the last one, or if
 * `messageId` names the decisions' message. The AI SDK does the latter to continue an earlier message below one that was
 * refused.
 */
export function decisionsIn(messages: readonly ChatMessage[], messageId: unknown): SentDecisions {
  const decided = messages.findLast((message) => decisionsOf(message).length > 0);
  if (decided === undefined) return { decisions: [], isRequest: false };
  const isLast = messages.at(-1)?.role === 'assistant';
  const isRequest = isLast || (messageId !== undefined && decided.id === messageId);
  return { decisions: decisionsOf(decided), isRequest };
}

/** The decisions of a message. Calls that have an outcome no longer have a decision. */
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

/** The route for a decision on a call from a chat while its stream continues. */
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
