import type { Approval } from '@parley/core/domain/approvals/approval';

/** Marks a call that the agent makes, as opposed to a page or its model. */
export const AGENT_CALL = { type: 'dynamic-tool', providerExecuted: true } as const;

interface ToolCallPart {
  readonly type: 'dynamic-tool';
  readonly providerExecuted: true;
  readonly toolName: string;
  readonly toolCallId: string;
  readonly input: unknown;
}

/** A tool call in a `UIMessage`, in the states of the AI SDK. */
export type ToolPart = ToolCallPart & {
  readonly state:
    | 'input-available'
    | 'approval-requested'
    | 'approval-responded'
    | 'output-available'
    | 'output-error'
    | 'output-denied';
  readonly output?: unknown;
  readonly errorText?: string;
  readonly approval?: { readonly id: string; readonly approved?: boolean; readonly reason?: string };
};

/** How a call ended. */
export type ToolPartEnd =
  | { readonly state: 'output-available'; readonly output: unknown }
  | { readonly state: 'output-error'; readonly errorText: string };

/** The part of a call, with its approval and its outcome if it has them. */
export function toolPartOf(
  { toolName, toolCallId, input }: Omit<ToolCallPart, keyof typeof AGENT_CALL>,
  approval?: Approval,
  outcome?: ToolPartEnd,
): ToolPart {
  const call = { ...AGENT_CALL, toolName, toolCallId, input };
  const id = approval?.approvalId ?? '';
  switch (approval?.status) {
    case 'pending':
      return { ...call, state: 'approval-requested', approval: { id } };
    case 'approved':
    case 'edited':
      return { ...call, state: 'approval-responded', ...outcome, approval: { id, approved: true } };
    case 'denied': {
      // The part shows that the person denied the call; an error would replace that.
      const reason = approval.reason === undefined ? {} : { reason: approval.reason };
      return { ...call, state: 'output-denied', approval: { id, approved: false, ...reason } };
    }
    default:
      return { ...call, state: 'input-available', ...outcome };
  }
}
