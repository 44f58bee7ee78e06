import type { StepRecord } from '@parley/shared/domain/runs/run';

/** Tokens as models report them. A value is absent when the model does not report it. */
export type Usage = NonNullable<StepRecord['used']>;

/** The token budget of a run, including the runs to which it delegates. */
export interface Budget {
  /** Counts a step in this budget and in every budget that contains it. */
  spend(step: Pick<StepRecord, 'inputTokens' | 'outputTokens'>): void;
  /** True if this budget, or one that contains it, is used up. */
  readonly isSpent: boolean;
  /** The tokens that remain in this budget and in every budget that contains it. */
  readonly left: number;
  /** Tokens used so far. Undefined while no model has reported any. */
  readonly used: Usage | undefined;
}

/** Makes the budget of a run. `outer` is the budget of the delegating run, which contains it. */
export function createBudget(tokensMax: number, outer?: Budget): Budget {
  let input: number | undefined;
  let output: number | undefined;
  return {
    spend(step) {
      const { inputTokens, outputTokens } = step;
      if (inputTokens !== undefined) input = (input ?? 0) + inputTokens;
      if (outputTokens !== undefined) output = (output ?? 0) + outputTokens;
      outer?.spend(step);
    },
    get isSpent() {
      return (input ?? 0) + (output ?? 0) >= tokensMax || outer?.isSpent === true;
    },
    get left() {
      const left = Math.max(0, tokensMax - (input ?? 0) - (output ?? 0));
      return Math.min(left, outer?.left ?? left);
    },
    get used() {
      if (input === undefined && output === undefined) return undefined;
      return {
        ...(input !== undefined && { inputTokens: input }),
        ...(output !== undefined && { outputTokens: output }),
      };
    },
  };
}
