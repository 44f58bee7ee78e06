import type { RunRef } from '@parley/shared/domain/runs/run';

/** How a turn ended. Contains none of its content. */
export interface TurnEnd {
  readonly agent: string;
  readonly outcome: 'finished' | 'stopped' | 'failed' | 'handed_over' | 'detached';
  readonly durationMs: number;
}

/** How a tool call ended. Its duration includes waits for people. */
export interface CallEnd {
  readonly agent: string;
  readonly tool: string;
  readonly outcome: 'returned' | 'failed';
  readonly durationMs: number;
}

/** Observes turns, for logs, spans and metrics. Never throws and never sees the content of messages. */
export interface TurnObserver {
  began(run: RunRef): void;
  /** This pod continues a run that another pod began. */
  resumed(run: RunRef, term: number): void;
  /** Called once for every turn that began or was resumed on this pod. */
  ended(run: RunRef, end: TurnEnd): void;
  called(run: RunRef, end: CallEnd): void;
  /** Runs a model step within its span. */
  chat<T>(run: RunRef, agent: string, step: () => Promise<T>): Promise<T>;
}

/** Observes nothing: for tests. */
export const silentTurnObserver: TurnObserver = {
  began: () => undefined,
  resumed: () => undefined,
  ended: () => undefined,
  called: () => undefined,
  chat: (_run, _agent, step) => step(),
};
