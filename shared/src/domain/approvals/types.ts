import type { RowOf } from '../family.ts';
import type { Approval } from './approval.ts';
import type { ApprovalCommand } from './commands.ts';
import type { ApprovalDefinition, ApprovalSettlement } from './definition.ts';
import type { ApprovalEvent } from './events.ts';
import type { ApprovalStatus } from './status.ts';
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
