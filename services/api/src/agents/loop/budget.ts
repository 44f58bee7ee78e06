import type { StepRecord } from '@parley/shared/domain/runs/run';

/** Tokens as models count them; nothing where they do not say. */
export type Usage = NonNullable<StepRecord['used']>;

/** What a run may use, with all that it delegates. */
export interface Budget {
  /** Counts a step, here and in every budget that this one is part of. */
  spend(step: Pick<StepRecord, 'inputTokens' | 'outputTokens'>): void;
  /** True once this budget, or one that it is part of, is used up. */
  readonly isSpent: boolean;
  /** Tokens that may still be used, here and in every budget that this one is part of. */
  readonly left: number;
  /** What was used so far; nothing as long as no model said. */
  readonly used: Usage | undefined;
}

/** Makes the budget of a run; a delegate's is part of that of whoever delegated. */
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
