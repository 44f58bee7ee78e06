import type { Mutant } from './mutant.ts';

export const TURNS: readonly Mutant[] = [];
