import type { Mutant } from './mutant.ts';

export const RUNS: readonly Mutant[] = [];
