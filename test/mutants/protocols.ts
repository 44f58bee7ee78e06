import type { Mutant } from './mutant.ts';

export const PROTOCOLS: readonly Mutant[] = [];
