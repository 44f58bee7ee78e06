import type { ApprovalDefinition } from '@parley/core/domain/approvals/definition';
import type { ApprovalStatus } from '@parley/core/domain/approvals/status';
import type { Status } from '@parley/core/domain/elicitations/status';
import type { Definition } from '../../domain/elicitations/row.ts';
import type { OutboxResult, OutboxTask } from './outbox.ts';

/** An elicitation that a commit is about to create, or to move into `status`. */
export interface CommittedElicitation {
  readonly id: string;
  readonly definition: Definition;
  readonly status: Status;
}

/** An approval that a commit is about to create, or to move into `status`. */
export interface CommittedApproval {
  readonly id: string;
  readonly definition: ApprovalDefinition;
  readonly status: ApprovalStatus;
}

/**
 * A kind of delivery: work that must happen after a commit. A kind is defined in one file and registered by one line of the
 * wiring. The outbox and the dispatch know kinds only by this interface.
 */
export interface DeliveryKind {
  /**
   * Lower-case letters, digits and hyphens. The name is part of Redis keys, so renaming a kind orphans its outstanding tasks.
   */
  readonly name: string;
  /** How many tasks of this kind one process handles at the same time. Kinds do not share places. */
  readonly places: number;
  /**
   * True: the process that noted a task handles it at once. If another process holds a lease on the task, that process handles
   * it again after reporting `done`. False: the next round of the dispatch handles the task.
   */
  readonly immediate?: boolean;
  /** The task that a commit of this elicitation must note, or undefined. Absent for kinds that do not concern elicitations. */
  readonly taskOn?: (elicitation: CommittedElicitation) => OutboxTask | undefined;
  /** The same as `taskOn`, for commits of approvals. */
  readonly taskOnApproval?: (approval: CommittedApproval) => OutboxTask | undefined;
  /**
   * How long an ended elicitation with a task of this kind is kept at least, in ms; the retention when absent. A handler that
   * needs the row for less time shortens this once it is done.
   */
  readonly keepEndedMs?: number;
  /**
   * Handles one task; `attempt` counts from 1. It must be harmless to handle a task twice. Rejects when the attempt could not
   * be made. Returns `NOT_UNDERSTOOD` for a task that it cannot decode.
   */
  handle(task: OutboxTask, attempt: number): Promise<OutboxResult>;
}

/** The result for a task that this version cannot decode. A newer process may have noted the task and can handle it. */
export const NOT_UNDERSTOOD = { deferInMs: 60_000 } as const satisfies OutboxResult;

/** What one commit notes in the outbox. */
export interface CommitNotes {
  readonly tasks: readonly OutboxTask[];
  /** How long the row is kept at least if this commit ends it, in ms. */
  readonly keepEndedMs?: number;
}

/** The part of the delivery kinds that use cases need. */
export interface Deliveries {
  /** The names of the registered kinds. */
  readonly kinds: readonly string[];
  /** What a commit of this elicitation must note. */
  notesOn(elicitation: CommittedElicitation): CommitNotes;
  /** What a commit of this approval must note. */
  notesOnApproval(approval: CommittedApproval): CommitNotes;
  /**
   * Handles a task that a commit has just noted, if its kind is immediate and has a free place. If another process holds a
   * lease on the task, that process handles it once more instead. After a failure, the task is still in the outbox. Never
   * rejects.
   */
  now(task: OutboxTask): Promise<void>;
}
