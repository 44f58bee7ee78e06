import type { RedisFaultCode } from '@parley/server/diagnosis';
import { FAULTS, type FaultCode } from './faults.ts';

/** `unknown`: the check was not possible, or its result may be intended. */
export type Verdict = 'ok' | 'wrong' | 'unknown';

/** The result of one check. A fault has a stable code and a remedy. */
export interface Finding {
  readonly check: string;
  readonly verdict: Verdict;
  readonly text: string;
  readonly code?: FaultCode | RedisFaultCode;
  /** The setting or part to which the fault belongs. */
  readonly key?: string;
  readonly remedy?: string;
}

/** The finding of a check that found no fault. */
export function fine(check: string, text: string): Finding {
  return { check, verdict: 'ok', text };
}

/** The finding of a check that was not possible. */
export function unseen(check: string, text: string): Finding {
  return { check, verdict: 'unknown', text };
}

/** The finding of a fault, with the remedy of its code. */
export function fault(check: string, code: FaultCode, text: string, verdict: Verdict = 'wrong'): Finding {
  const { key, remedy } = FAULTS[code];
  return { check, verdict, code, key, text, remedy };
}
