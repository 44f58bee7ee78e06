import type { Approval } from '@parley/core/domain/approvals/approval';
import { tagsOf } from '@parley/core/domain/tags';
import { isoOf } from '@parley/core/domain/text';
import type { ApprovalRow } from './types.ts';

/** Converts the row to the form in which callers see it. It names the fields to show, so that no private field is shown. */
export function toApprovalWire(
  row: ApprovalRow,
  { now, content }: { readonly now: number; readonly content: boolean },
): Approval {
  const { definition, settlement: settled = {} } = row;
  const { inputSchema, remember, risk } = definition;
  // The reason of a withdrawal is a word of the asker, and the reason of a denial is a text of the person.
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
