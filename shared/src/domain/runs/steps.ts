import type { Run, StepRecord } from './run.ts';

/** Splits the steps of a run into the whole ones, and a last one in which some tool calls have no result yet. */
export function splitSteps({ steps, calls }: Pick<Run, 'steps' | 'calls'>): {
  readonly whole: readonly StepRecord[];
  readonly unfinished?: StepRecord;
} {
  const last = steps.at(-1);
  if (last === undefined || !hasCalls(calls, steps.length - 1)) return { whole: steps };
  return last.messages.at(-1)?.role === 'tool'
    ? { whole: steps }
    : { whole: steps.slice(0, -1), unfinished: last };
}

/** True when a step called tools. */
export function hasCalls(calls: Run['calls'], index: number): boolean {
  return calls.some(({ step }) => step === index);
}
