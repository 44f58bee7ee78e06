import type { ApprovalTool, RememberFor } from '@parley/core/domain/approvals/approval';
import type { Risk } from '@parley/core/domain/approvals/risk';

/** The trigger recorded with waits for approvals. */
export const APPROVAL_TRIGGER = 'approval';

/** A call that a person must approve. */
export interface NeededApproval {
  readonly args: Readonly<Record<string, unknown>>;
  readonly tool: ApprovalTool;
  /** Absent if the arguments cannot be edited. */
  readonly inputSchema: Readonly<Record<string, unknown>> | undefined;
  readonly rule: string;
  readonly remember: RememberFor | undefined;
  readonly risk?: Risk;
  readonly tags?: readonly string[];
  readonly timeoutSeconds: number;
}

export type ApprovalOutcome =
  | { readonly type: 'granted'; readonly input: unknown; readonly isEdited: boolean }
  /** The call is refused, and nothing was done. `message` is for the model. */
  | {
      readonly type: 'refused';
      readonly message: string;
      /** The person wrote a message instead, which begins the next turn. */
      readonly endsTurn?: true;
    };
