import type { Definition, Row } from '../../domain/elicitations/row.ts';
import type { Status } from '../../domain/elicitations/status.ts';
import type { Step } from '../../domain/elicitations/transition.ts';
import type { Owner } from '../../domain/ids.ts';
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
  /** False when the row moved on or the guard did not hold; `row` and `now` then say how it stands. */
  readonly committed: boolean;
  /** What the commit noted in the outbox; absent when that is nothing. */
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
 * The rows of all elicitations. Every change is one atomic step that also appends the stream request's feed, keeps
 * the inbox, the history and the deadline index, notes in the outbox what an end leaves to do, and publishes the wakes
 * last.
 */
export interface Elicitations {
  /** Creates the row unless `id` exists; stamps createdAt and expiresAt. Nothing when the owner has too many open. */
  create(id: string, definition: Definition): Promise<CreateResult | undefined>;
  /** Reads one row and the clock together. */
  read(id: string): Promise<Reading>;
  /** Reads many rows of any owners, in the order of `ids`; the clock is the earliest of the reads. */
  readMany(ids: readonly string[]): Promise<{ rows: (Row | undefined)[]; now: number }>;
  /** Applies `step` if `row.revision` is still current and the step's guard holds on the Redis clock. */
  commit(row: Row, step: Step): Promise<CommitResult>;
  /** An owner's elicitations, newest first; ended ones for as long as their retention and the history bound allow. */
  page(request: PageRequest): Promise<Page>;
  /** Ids of one bucket whose deadline has passed on the Redis clock, oldest first, after the first `skip` of them. */
  due(bucket: number, limit: number, skip?: number): Promise<string[]>;
  /** Lets an ended row stay for so long from now, in ms, and then leave. */
  keep(id: string, forMs: number): Promise<void>;
  /** Removes an index entry that leads to no row, as a lost write may leave behind. */
  forget(id: string): Promise<void>;
}
