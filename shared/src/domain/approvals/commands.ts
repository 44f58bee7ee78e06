import type { Arguments } from '@parley/core/domain/approvals/approval';
import type { Issue } from '@parley/core/domain/issue';

/** The fields of every decision. */
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
  /**
   * The faults of the arguments by the tool's schema. They can be computed before the commit, because the definition never
   * changes.
   */
  readonly faults: readonly Issue[];
}

export interface Deny extends DecidedHere {
  readonly type: 'deny';
  readonly reason?: string;
}

/** A person's decision as a command on the approval. */
export type ApprovalCommand = Approve | Edit | Deny;
