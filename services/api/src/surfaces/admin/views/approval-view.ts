import { Approval } from '@parley/core/domain/approvals/approval';
import { APPROVAL_STATUSES, DECISIONS } from '@parley/core/domain/approvals/status';
import { Tags, tagsOf } from '@parley/core/domain/tags';
import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import { toApprovalWire } from '@parley/shared/domain/approvals/wire';
import { z } from 'zod';

const Time = z.iso.datetime();

/** An approval as an operator sees it, without the arguments of its call. */
export const AdminApproval = z
  .object({
    approvalId: z.string(),
    userId: z.string(),
    streamRequestId: z.string(),
    conversationId: z.string(),
    toolCallId: z.string(),
    agent: z.string().describe('Id of the agent that asks.'),
    toolId: z.string().describe("The tool's server."),
    toolName: z.string(),
    tags: Tags.optional(),
    status: z.enum(APPROVAL_STATUSES),
    decision: z.enum(DECISIONS).optional(),
    remembered: z.boolean().optional(),
    reason: z.string().optional().describe('Why it was withdrawn.'),
    surface: z.string().optional().describe('Where it was settled.'),
    createdAt: Time,
    expiresAt: Time,
    settledAt: Time.optional(),
    approval: Approval.optional().describe('The whole approval, for keys with the scope `read_content`.'),
  })
  .meta({ id: 'AdminApproval' });
export type AdminApproval = z.infer<typeof AdminApproval>;

/** The fields to show are listed, so that no argument and no text of the person is shown without the scope. */
export function approvalView(
  row: ApprovalRow,
  { now, content }: { readonly now: number; readonly content: boolean },
): AdminApproval {
  const { definition, settlement = {} } = row;
  return {
    approvalId: row.id,
    userId: definition.userId,
    streamRequestId: definition.streamRequestId,
    conversationId: definition.conversationId,
    toolCallId: definition.toolCallId,
    agent: definition.agentId,
    toolId: definition.tool.server,
    toolName: definition.tool.name,
    ...tagsOf(definition),
    status: row.status,
    ...(settlement.decision !== undefined && { decision: settlement.decision }),
    ...(settlement.remember !== undefined && { remembered: settlement.remember }),
    // The reason of a denial is the person's own text, so it is not shown.
    ...(row.status === 'withdrawn' && settlement.reason !== undefined && { reason: settlement.reason }),
    ...(settlement.surface !== undefined && { surface: settlement.surface }),
    createdAt: new Date(row.createdAt).toISOString(),
    expiresAt: new Date(row.expiresAt).toISOString(),
    ...(row.settledAt !== undefined && { settledAt: new Date(row.settledAt).toISOString() }),
    ...(content && { approval: toApprovalWire(row, { now, content: true }) }),
  };
}
