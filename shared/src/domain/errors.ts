import type { Elicitation } from './elicitations/elicitation.ts';
import type { Issue } from './issue.ts';

/** Stable codes a caller may branch on. HTTP statuses belong to the http layer, not here. */
export const ERROR_CODES = [
  'invalid_request',
  'unauthenticated',
  'forbidden',
  'not_found',
  'invalid_answer',
  'already_settled',
  'expired',
  'idempotency_mismatch',
  'stream_owner_mismatch',
  'turn_running',
  'too_large',
  'rate_limited',
  'unavailable',
  'internal',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

export interface ErrorExtras {
  /** What is wrong, field by field. */
  readonly issues?: readonly Issue[];
  /** The elicitation as it stands, for `already_settled` and `expired`. */
  readonly elicitation?: Elicitation;
  /** Seconds after which trying again makes sense, for `rate_limited` and `unavailable`. */
  readonly retryAfterSeconds?: number;
  /** False when the same call would fail again, where its code leaves that open. */
  readonly retry?: false;
  readonly cause?: unknown;
}

/** The one error of Parley's own making: a stable `code`, and a message that says what to do next. */
export class ParleyError extends Error {
  readonly code: ErrorCode;
  readonly issues: readonly Issue[] | undefined;
  readonly elicitation: Elicitation | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly retry: false | undefined;

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.name = 'ParleyError';
    this.code = code;
    this.issues = extras.issues;
    this.elicitation = extras.elicitation;
    this.retryAfterSeconds = extras.retryAfterSeconds;
    this.retry = extras.retry;
  }
}

/** Recognises a ParleyError by its shape, so that it also holds across two copies of this module. */
export function isParleyError(error: unknown, code?: ErrorCode): error is ParleyError {
  if (!(error instanceof Error) || error.name !== 'ParleyError' || !('code' in error)) return false;
  return code === undefined || error.code === code;
}
