import type { Mutant } from './mutant.ts';

export const CLIENTS: readonly Mutant[] = [];
