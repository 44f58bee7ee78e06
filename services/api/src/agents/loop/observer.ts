import type { RunRef } from '@parley/shared/domain/runs/run';

/** How a turn ended; nothing of what was said in it. */
export interface TurnEnd {
  readonly agent: string;
  readonly outcome: 'finished' | 'stopped' | 'failed' | 'handed_over' | 'detached';
  readonly durationMs: number;
}

/** How a tool call ended; waits for people are part of its time. */
export interface CallEnd {
  readonly agent: string;
  readonly tool: string;
  readonly outcome: 'returned' | 'failed';
  readonly durationMs: number;
}

/** Told of what turns do: logs, spans and metrics hang here. Never throws, never sees what is said. */
export interface TurnObserver {
  began(run: RunRef): void;
  /** This pod goes on with a run that another one had begun. */
  resumed(run: RunRef, term: number): void;
  /** Every turn that began, or was resumed, ends once, as far as this pod knows. */
  ended(run: RunRef, end: TurnEnd): void;
  called(run: RunRef, end: CallEnd): void;
  /** Runs a round of a model within its span. */
  chat<T>(run: RunRef, agent: string, round: () => Promise<T>): Promise<T>;
}

/** Watches nothing: for tests. */
export const silentTurnObserver: TurnObserver = {
  began: () => undefined,
  resumed: () => undefined,
  ended: () => undefined,
  called: () => undefined,
  chat: (_run, _agent, round) => round(),
};
