import type { Arguments } from '@parley/core/domain/approvals/approval';
import type { Issue } from '@parley/core/domain/issue';

/** What every decision has. */
export interface DecidedHere {
  readonly responseId?: string;
  /** Where the decision was given. */
  readonly surface: string;
}

export interface Approve extends DecidedHere {
  readonly type: 'approve';
  readonly remember?: boolean;
}

export interface Edit extends DecidedHere {
  readonly type: 'edit';
  readonly arguments: Arguments;
  /** What is wrong with the arguments by the tool's schema. The definition never changes, so neither do its faults. */
  readonly faults: readonly Issue[];
}

export interface Deny extends DecidedHere {
  readonly type: 'deny';
  readonly reason?: string;
}

/** A person's decision, not yet decided on. */
export type ApprovalCommand = Approve | Edit | Deny;
