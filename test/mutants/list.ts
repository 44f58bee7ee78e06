import { ACCOUNTS } from './accounts.ts';
import { CLIENTS } from './clients.ts';
import { DOMAIN } from './domain.ts';
import { ELICITATIONS } from './elicitations.ts';
import { LOADS } from './loads.ts';
import type { Mutant } from './mutant.ts';
import { OPERATIONS } from './operations.ts';
import { PROTOCOLS } from './protocols.ts';
import { RUNS } from './runs.ts';
import { SECURITY } from './security.ts';
import { TURNS } from './turns.ts';

/** Every planted defect, by the part of the product that it is in. */
export const MUTANTS: Readonly<Record<string, readonly Mutant[]>> = {
  accounts: ACCOUNTS,
  clients: CLIENTS,
  domain: DOMAIN,
  elicitations: ELICITATIONS,
  loads: LOADS,
  operations: OPERATIONS,
  protocols: PROTOCOLS,
  runs: RUNS,
  security: SECURITY,
  turns: TURNS,
};
