import type { ApprovalDefinition } from '@parley/core/domain/approvals/definition';
import type { ApprovalStatus } from '@parley/core/domain/approvals/status';
import type { Status } from '@parley/core/domain/elicitations/status';
import type { Definition } from '../../domain/elicitations/row.ts';
import type { OutboxResult, OutboxTask } from './outbox.ts';

/** An elicitation that a commit is about to ask or to move into `status`. */
export interface CommittedElicitation {
  readonly id: string;
  readonly definition: Definition;
  readonly status: Status;
}

/** An approval that a commit is about to request or to move into `status`. */
export interface CommittedApproval {
  readonly id: string;
  readonly definition: ApprovalDefinition;
  readonly status: ApprovalStatus;
}

/**
 * A kind of delivery: something that must happen after a commit. It is defined in one file and registered by one line of
 * the wiring; the outbox and the dispatch know kinds by this definition only.
 */
export interface DeliveryKind {
  /** Lower-case letters, digits and hyphens. Part of Redis keys: a change of the name orphans what is outstanding. */
  readonly name: string;
  /** How many of its tasks one process handles at the same time. Each kind has places of its own. */
  readonly places: number;
  /**
   * True: the process that noted a task handles it at once; where it is leased just then, the process that has it, as
   * soon as it has reported `done`. Otherwise the next round of the dispatch does.
   */
  readonly immediate?: boolean;
  /** The task that a commit of this elicitation must note, or nothing. Absent for kinds that commits of elicitations never note. */
  readonly taskOn?: (elicitation: CommittedElicitation) => OutboxTask | undefined;
  /** As `taskOn`, for commits of approvals. */
  readonly taskOnApproval?: (approval: CommittedApproval) => OutboxTask | undefined;
  /**
   * How long an ended elicitation that noted a task of this kind stays at least, in ms; the retention when absent. A
   * handler that needs the row for a shorter time shortens it once it is done.
   */
  readonly keepEndedMs?: number;
  /**
   * Handles one task; `attempt` counts from 1. Must be harmless when it runs twice. Rejects when the attempt could not be
   * made. Reports `NOT_UNDERSTOOD` for a task that it cannot decode.
   */
  handle(task: OutboxTask, attempt: number): Promise<OutboxResult>;
}

/** The report for a task that this version cannot decode: a newer process may have noted it and can handle it. */
export const NOT_UNDERSTOOD = { deferInMs: 60_000 } as const satisfies OutboxResult;

/** What one commit notes in the outbox. */
export interface CommitNotes {
  readonly tasks: readonly OutboxTask[];
  /** How long the row stays at least, should the commit end it, in ms. */
  readonly keepEndedMs?: number;
}

/** What the use cases on elicitations need of the registered delivery kinds. */
export interface Deliveries {
  /** The names of the registered kinds. */
  readonly kinds: readonly string[];
  /** What a commit of this elicitation must note. */
  notesOn(elicitation: CommittedElicitation): CommitNotes;
  /** What a commit of this approval must note. */
  notesOnApproval(approval: CommittedApproval): CommitNotes;
  /**
   * Handles a task that a commit has just noted, if its kind is immediate and has a free place, and the task is not handed
   * out already: then the process that has it handles it once more. When this fails, the outbox still holds the task. Never rejects.
   */
  now(task: OutboxTask): Promise<void>;
}
