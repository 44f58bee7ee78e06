import type { Approval } from '@parley/core/domain/approvals/approval';
import { tagsOf } from '@parley/core/domain/tags';
import { isoOf } from '@parley/core/domain/text';
import type { ApprovalRow } from './types.ts';

/** Converts the row to the form that callers see. It lists the visible fields by name, so that no private field is shown. */
export function toApprovalWire(
  row: ApprovalRow,
  { now, content }: { readonly now: number; readonly content: boolean },
): Approval {
  const { definition, settlement: settled = {} } = row;
  const { inputSchema, remember, risk } = definition;
  // A withdrawal's reason is a code of the asker; a denial's reason is the person's text and needs `content`.
  const showsReason = settled.reason !== undefined && (content || row.status === 'withdrawn');
  return {
    approvalId: row.id,
    streamRequestId: definition.streamRequestId,
    conversationId: definition.conversationId,
    userId: definition.userId,
    toolCallId: definition.toolCallId,
    step: definition.step,
    agent: definition.agent,
    tool: definition.tool,
    arguments: definition.arguments,
    masked: [...definition.masked],
    ...(inputSchema !== undefined && { inputSchema }),
    ...(remember !== undefined && { remember }),
    ...(risk !== undefined && { risk }),
    ...tagsOf(definition),
    status: row.status,
    ...(settled.decision !== undefined && { decision: settled.decision }),
    ...(content && settled.arguments !== undefined && { editedArguments: settled.arguments }),
    ...(settled.remember !== undefined && { remembered: settled.remember }),
    ...(showsReason && { reason: settled.reason }),
    createdAt: isoOf(row.createdAt),
    expiresAt: isoOf(row.expiresAt),
    ...(row.settledAt !== undefined && { settledAt: isoOf(row.settledAt) }),
    ...(settled.surface !== undefined && { settledBy: { surface: settled.surface } }),
    serverTime: isoOf(now),
  };
}
