import type { RunRef } from '@parley/shared/domain/runs/run';

/** How a turn ended. Contains none of its content. */
interface TurnEnd {
  readonly agent: string;
  readonly outcome: 'finished' | 'stopped' | 'failed' | 'handed_over' | 'detached';
  readonly durationMs: number;
  /** Trace context of the preceding turn of the conversation. */
  readonly previous?: string | undefined;
}

/** How a tool call ended. Its duration includes waits for people. */
interface CallEnd {
  readonly agent: string;
  readonly tool: string;
  readonly outcome: 'returned' | 'failed';
  readonly durationMs: number;
}

/** Observes turns, for logs, spans and metrics. Never throws and never sees the content of messages. */
export interface TurnObserver {
  /**
   * Runs `begin`, which begins a turn, in the parent span of all later spans of the turn. The turn's record stores
   * `traceparent` (W3C Trace Context), which is absent if tracing is off.
   */
  beginning<T>(agent: string, begin: (traceparent: string | undefined) => Promise<T>): Promise<T>;
  /** Runs work on a turn in the trace that its record names. */
  within<T>(traceparent: string | undefined, work: () => Promise<T>): Promise<T>;
  /** The trace context of the current work, to store with a delegate's run. */
  traceparent(): string | undefined;
  began(run: RunRef): void;
  /** This pod continues a run that another pod began. */
  resumed(run: RunRef, term: number): void;
  /** Called once for every turn that began or was resumed on this pod. */
  ended(run: RunRef, end: TurnEnd): void;
  called(run: RunRef, end: CallEnd): void;
  /** Runs a model step in a span of its own. */
  chat<T>(run: RunRef, agent: string, step: () => Promise<T>): Promise<T>;
}

/** Observes nothing: for tests. */
export const silentTurnObserver: TurnObserver = {
  beginning: (_agent, begin) => begin(undefined),
  within: (_traceparent, work) => work(),
  traceparent: () => undefined,
  began: () => undefined,
  resumed: () => undefined,
  ended: () => undefined,
  called: () => undefined,
  chat: (_run, _agent, step) => step(),
};
