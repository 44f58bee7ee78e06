import type { Mutant } from './mutant.ts';

export const SECURITY: readonly Mutant[] = [];
