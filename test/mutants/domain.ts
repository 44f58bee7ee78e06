import type { Mutant } from './mutant.ts';

export const DOMAIN: readonly Mutant[] = [];
