import type { FamilyTypes, RowOf } from '@parley/core/domain/family';
import type { ApprovalTypes } from '../../domain/approvals/types.ts';
import type { ElicitationTypes } from '../../domain/elicitations/types.ts';

/** How a waiter or reader learnt of a change: by its wake, by a regular recheck of the row, or by its first read. */
export type WakeSource = 'push' | 'sweep' | 'read';

/** Observes the records of one family, for logs, spans and metrics. Never throws, and never exports what a person wrote. */
export interface RecordObserver<T extends FamilyTypes> {
  /** Calls `run`, which asks a question, within a span. The row stores the span's traceparent. */
  asking<R>(run: (traceparent: string | undefined) => Promise<R>): Promise<R>;
  /** A record was created. Not called for a repeated ask. */
  asked(row: RowOf<T>): void;
  /** A commit of this process moved a record to a terminal status. */
  settled(row: RowOf<T>): void;
  /** A waiter learnt of the end of a record. */
  resumed(row: RowOf<T>, source: WakeSource): void;
}

/** Observes elicitations and approvals. */
export interface Observer extends RecordObserver<ElicitationTypes> {
  readonly approvals: RecordObserver<ApprovalTypes>;
  /** An ask was refused because its user has too many open records. */
  tooManyOpen(): void;
  /** The job of the deadline of this record could not be added. The next sweep adds it again. */
  timerFailed(recordId: string, error: unknown): void;
  /** The job for this record's deadline could not be added. The next sweep adds it again. */
  swept(count: number): void;
  /** The sweep skipped a record that cannot be ended. It stays open past its deadline until its row is repaired. */
  sweepFailed(recordId: string, error: unknown): void;
}
