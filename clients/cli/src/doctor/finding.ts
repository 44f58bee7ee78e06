import type { RedisFaultCode } from '@parley/server/diagnosis';
import { FAULTS, type FaultCode } from './faults.ts';

/** `unknown`: it could not be looked at, or it may be as it should be. */
export type Verdict = 'ok' | 'wrong' | 'unknown';

/** What one check found. A fault has a stable code, and says what to do. */
export interface Finding {
  readonly check: string;
  readonly verdict: Verdict;
  readonly text: string;
  readonly code?: FaultCode | RedisFaultCode;
  /** The setting, or the part, that the fault belongs to. */
  readonly key?: string;
  readonly remedy?: string;
}

/** Nothing is wrong. */
export function fine(check: string, text: string): Finding {
  return { check, verdict: 'ok', text };
}

/** It could not be looked at. */
export function unseen(check: string, text: string): Finding {
  return { check, verdict: 'unknown', text };
}

/** A fault, with the remedy of its code. */
export function fault(check: string, code: FaultCode, text: string, verdict: Verdict = 'wrong'): Finding {
  const { key, remedy } = FAULTS[code];
  return { check, verdict, code, key, text, remedy };
}
