import type { Approval } from './approvals/approval.ts';
import type { Elicitation } from './elicitations/elicitation.ts';
import type { Issue } from './issue.ts';

/** The codes of turns that were refused because a quota is used up. */
export const QUOTA_CODES = ['turn_quota', 'token_quota', 'conversation_quota', 'storage_quota'] as const;
export type QuotaCode = (typeof QUOTA_CODES)[number];

/** The stable error codes, on which callers may rely. The http layer maps them to HTTP statuses. */
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
  'user_erased',
  ...QUOTA_CODES,
  'workflow_quota',
  'too_large',
  'rate_limited',
  'read_quota',
  'unavailable',
  'pod_busy',
  'internal',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

export interface ErrorExtras {
  /** One issue for each fault, with its field. */
  readonly issues?: readonly Issue[];
  /** The current elicitation, for `already_settled` and `expired`. */
  readonly elicitation?: Elicitation;
  /** The current approval, for the same codes. */
  readonly approval?: Approval;
  /** Seconds after which a retry may succeed, for `rate_limited`, `user_erased` and `unavailable`. */
  readonly retryAfterSeconds?: number;
  /** False when a retry would fail too, for codes that do not imply this. */
  readonly retry?: false;
  readonly cause?: unknown;
}

/** Parley's error class: a stable `code`, and a message that says what to do. */
export class ParleyError extends Error {
  readonly code: ErrorCode;
  readonly issues: readonly Issue[] | undefined;
  readonly elicitation: Elicitation | undefined;
  readonly approval: Approval | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly retry: false | undefined;

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.name = 'ParleyError';
    this.code = code;
    this.issues = extras.issues;
    this.elicitation = extras.elicitation;
    this.approval = extras.approval;
    this.retryAfterSeconds = extras.retryAfterSeconds;
    this.retry = extras.retry;
  }
}

/** Recognises a ParleyError by its properties, so that errors of another copy of this module are recognised too. */
export function isParleyError(error: unknown, code?: ErrorCode): error is ParleyError {
  if (!(error instanceof Error) || error.name !== 'ParleyError' || !('code' in error)) return false;
  return code === undefined || error.code === code;
}
