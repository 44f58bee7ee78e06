import type { Approval } from '@parley/core/domain/approvals/approval';
import type { ApprovalDefinition, ApprovalSettlement } from '@parley/core/domain/approvals/definition';
import type { ApprovalEvent } from '@parley/core/domain/approvals/events';
import type { ApprovalStatus } from '@parley/core/domain/approvals/status';
import type { RowOf } from '@parley/core/domain/family';
import type { ApprovalCommand } from './commands.ts';
import type { ApprovalWake } from './wake.ts';

/** The types of approvals, for generic code. */
export interface ApprovalTypes {
  readonly definition: ApprovalDefinition;
  readonly status: ApprovalStatus;
  readonly settlement: ApprovalSettlement;
  readonly command: ApprovalCommand;
  readonly event: ApprovalEvent;
  readonly wake: ApprovalWake;
  readonly wire: Approval;
}

/** The stored approval. */
export type ApprovalRow = RowOf<ApprovalTypes>;
