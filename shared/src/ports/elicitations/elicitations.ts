import type { Definition, Row } from '../../domain/elicitations/row.ts';
import type { Status } from '../../domain/elicitations/status.ts';
import type { Step } from '../../domain/elicitations/transition.ts';
import type { Owner } from '../../domain/ids.ts';
import type { CommitNotes } from '../delivery/kind.ts';
import type { OutboxTask } from '../delivery/outbox.ts';

/** A row together with the clock it was read under. */
export interface Reading {
  /** Nothing when there is no such elicitation (never asked, or its retention ended). */
  readonly row: Row | undefined;
  /** Redis clock in ms at the read. */
  readonly now: number;
}

export interface CreateResult extends Reading {
  readonly row: Row;
  /** `created` by this call, `exists` from an earlier call with the same id. */
  readonly outcome: 'created' | 'exists';
}

export interface CommitResult extends Reading {
  /** False when the revision was not current or the guard did not hold; `row` and `now` are then the current ones. */
  readonly committed: boolean;
  /** What the commit noted in the outbox; absent when it noted nothing. */
  readonly noted?: readonly OutboxTask[];
}

export interface PageRequest {
  readonly owner: Owner;
  /** Keep only these statuses; all when absent. */
  readonly statuses?: readonly Status[];
  readonly conversationId?: string;
  /** `nextCursor` of the page before. */
  readonly cursor?: string;
  readonly limit: number;
}

export interface Page {
  readonly rows: readonly Row[];
  readonly nextCursor?: string;
  readonly now: number;
}

/**
 * The rows of all elicitations. Every change is one atomic step that also appends to the stream request's feed, updates
 * the inbox, the history and the deadline index, notes tasks in the outbox, and publishes the wakes last.
 */
export interface Elicitations {
  /**
   * Creates the row unless `id` exists; stamps createdAt and expiresAt. Nothing when the owner has too many open. Notes
   * the tasks in the outbox if this call created the row.
   */
  create(
    id: string,
    definition: Definition,
    notes?: Pick<CommitNotes, 'tasks'>,
  ): Promise<CreateResult | undefined>;
  /** Reads one row and the clock together. */
  read(id: string): Promise<Reading>;
  /** Reads many rows of any owners, in the order of `ids`; the clock is the earliest of the reads. */
  readMany(ids: readonly string[]): Promise<{ rows: (Row | undefined)[]; now: number }>;
  /**
   * Applies `step` if `row.revision` is still current and the step's guard holds on the Redis clock, and then notes in the
   * outbox what `notes` lists and, when the step ends the elicitation, the tasks of the runs that wait for its end.
   */
  commit(row: Row, step: Step, notes?: CommitNotes): Promise<CommitResult>;
  /** An owner's elicitations, newest first; ended ones for as long as their retention and the history bound allow. */
  page(request: PageRequest): Promise<Page>;
  /** Ids of one bucket whose deadline has passed on the Redis clock, oldest first, after the first `skip` of them. */
  due(bucket: number, limit: number, skip?: number): Promise<string[]>;
  /** Sets how long an ended row stays, in ms from now. An open row is not changed. */
  keep(id: string, forMs: number): Promise<void>;
  /** Removes the deadline of an id that has no row, which a lost write may have left in the index. */
  forget(id: string): Promise<void>;
}
