import type { Mutant } from './mutant.ts';

export const ACCOUNTS: readonly Mutant[] = [];
