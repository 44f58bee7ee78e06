import type { UIMessage } from 'ai';
import type { RunEvent } from '../history/run-events.ts';
import { callNameOf } from './script.ts';

/** What a person decides on each call that needs their approval. */
export const CHOICES = ['approve', 'edit', 'deny'] as const;

export type Choice = (typeof CHOICES)[number];

/** An approval as a chat shows it. */
export interface AskedApproval {
  readonly approvalId: string;
  readonly status: string;
  readonly tool: { readonly name: string };
  readonly arguments: { readonly amount?: number };
}

const EDITED_AMOUNT = 50;

/** The approvals of a chat as it shows them, in the order of their requests. */
export function approvalsIn(message: UIMessage): AskedApproval[] {
  return message.parts.flatMap((part) =>
    part.type === 'data-approval-request' && 'data' in part ? [part.data as AskedApproval] : [],
  );
}

/** The body of a decision, and the event that records it without its reply. */
export function decisionOf(conversation: string, approval: AskedApproval, choice: Choice) {
  const { approvalId, arguments: args, tool } = approval;
  const amount = choice === 'edit' ? EDITED_AMOUNT : (args.amount ?? 0);
  const call = callNameOf(tool.name, args);
  const event: RunEvent & { type: 'decision' } = { type: 'decision', conversation, call, choice, amount };
  const body = {
    conversationId: conversation,
    approvalId,
    decision: choice,
    ...(choice === 'edit' && { arguments: { ...args, amount } }),
    ...(choice === 'deny' && { reason: 'That is too much.' }),
  };
  return { event, body };
}
