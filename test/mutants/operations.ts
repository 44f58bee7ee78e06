import type { Mutant } from './mutant.ts';

export const OPERATIONS: readonly Mutant[] = [];
