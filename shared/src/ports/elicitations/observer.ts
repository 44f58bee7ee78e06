import type { Row } from '../../domain/elicitations/row.ts';

/** How a waiter or reader learnt of a change: from its wake, from the slow sweep of the row, or from its first read. */
export type WakeSource = 'push' | 'sweep' | 'read';

/** Observes elicitations, for logs, spans and metrics. Never throws, and never exports an answer. */
export interface Observer {
  /** Runs `run`, which asks a question, within a span. The row stores the traceparent. */
  asking<T>(run: (traceparent: string | undefined) => Promise<T>): Promise<T>;
  /** A question was asked. Not called for a repeat of the same ask. */
  asked(row: Row): void;
  /** A commit of this process moved an elicitation to a terminal status. */
  settled(row: Row): void;
  /** A waiter learnt of the end of an elicitation. */
  resumed(row: Row, source: WakeSource): void;
  /** An ask was refused because its user has too many open questions. */
  tooManyOpen(): void;
  /** The job of the deadline of this elicitation could not be added. The next sweep adds it again. */
  timerFailed(elicitationId: string, error: unknown): void;
  /** The sweep found and expired overdue elicitations. */
  swept(count: number): void;
  /**
   * The sweep skipped an elicitation that cannot be ended. It stays open past its deadline until its row is repaired.
   */
  sweepFailed(elicitationId: string, error: unknown): void;
}
