import type { Row } from '../../domain/elicitations/row.ts';

/** How a waiter or reader learnt of a change: by its wake, by the slow sweep of the row, or at its first read. */
export type WakeSource = 'push' | 'sweep' | 'read';

/** Told of everything that people watch: logs, spans and metrics hang here. Never throws, never sees answers leave. */
export interface Observer {
  /** Runs the asking within its span; the traceparent goes into the row. */
  asking<T>(run: (traceparent: string | undefined) => Promise<T>): Promise<T>;
  /** A question was asked (not told for a replay of the same ask). */
  asked(row: Row): void;
  /** An elicitation reached a terminal state by a commit of this process. */
  settled(row: Row): void;
  /** A waiter went on, `latencyMs` after the commit (Redis clock to local arrival, so only as good as the clocks). */
  resumed(row: Row, source: WakeSource): void;
  /** An ask was refused: its user has too many open questions. */
  tooManyOpen(): void;
  /** A timer could not be scheduled; the sweep covers it. */
  timerFailed(elicitationId: string, error: unknown): void;
  /** The sweep found and expired overdue elicitations. */
  swept(count: number): void;
  /** The sweep passed over an elicitation that cannot be ended; it stays open past its deadline until repaired. */
  sweepFailed(elicitationId: string, error: unknown): void;
}
