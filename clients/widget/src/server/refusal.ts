import { isParleyClientError, type ParleyClientError } from '@parley/core';
import { isRecord } from '@parley/core/domain/plain-record';
import { type Approval, isApproval } from '../approval.ts';
import { type Elicitation, isElicitation } from '../elicitation.ts';

/** A field error of the server. `path` is the field's name; for an edited call, it follows `arguments.`. */
export interface FieldError {
  readonly path: string;
  readonly message: string;
}

interface RefusalParts {
  readonly status: number;
  readonly code: string;
  readonly errors?: readonly FieldError[];
  readonly elicitation?: Elicitation | undefined;
  readonly approval?: Approval | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
}

/**
 * A refused or failed call. `code` is one of Parley's (`invalid_answer`, `already_settled`, `expired`, `not_found`,
 * `unauthenticated`, `rate_limited`, `unavailable`, …), or `offline` with status 0 when no reply came. Its message
 * contains neither answers nor tokens.
 */
export class Refusal extends Error {
  /** HTTP status; 0 when no reply came. */
  readonly status: number;
  readonly code: string;
  /** The invalid fields, for `invalid_answer`. */
  readonly errors: readonly FieldError[];
  /** The current elicitation, when the reply contains it. */
  readonly elicitation?: Elicitation;
  /** The current approval, when the reply contains it. */
  readonly approval?: Approval;
  readonly retryAfterSeconds?: number;

  constructor(parts: RefusalParts) {
    super(
      `Parley: ${parts.code} (${parts.status})`,
      parts.cause === undefined ? undefined : { cause: parts.cause },
    );
    this.name = 'Refusal';
    this.status = parts.status;
    this.code = parts.code;
    this.errors = parts.errors ?? [];
    if (parts.elicitation !== undefined) this.elicitation = parts.elicitation;
    if (parts.approval !== undefined) this.approval = parts.approval;
    if (parts.retryAfterSeconds !== undefined) this.retryAfterSeconds = parts.retryAfterSeconds;
  }
}

/** Converts any error of a call to a Refusal. */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (isParleyClientError(error) && (error.status ?? 0) >= 400) return refusalOf(error);
  // The path could not be built, so the id cannot be that of any elicitation.
  const isNoId = isParleyClientError(error, 'not_found');
  return new Refusal({ status: 0, code: isNoId ? 'not_found' : 'offline', cause: error });
}

/** Whether the server may have acted on the call: there was no reply of Parley, or a 5xx. */
export function isResultUnknown(error: unknown): boolean {
  const { code, status } = toRefusal(error);
  return code === 'offline' || status >= 500;
}

/** The codes that a status implies, even if a proxy replied instead of Parley. */
const CODES_OF_STATUS = ['unauthenticated', 'forbidden', 'too_large', 'rate_limited'];

function refusalOf({ code, status = 0, problem, retryAfterSeconds }: ParleyClientError): Refusal {
  const { code: given, errors, elicitation, approval } = { ...problem };
  const implied = CODES_OF_STATUS.includes(code) ? code : 'unavailable';
  return new Refusal({
    status,
    // A 404 without a problem document comes from a proxy, and does not mean that the question is gone.
    code: typeof given === 'string' ? given : implied,
    errors: Array.isArray(errors) ? errors.filter(isFieldError) : [],
    elicitation: isElicitation(elicitation) ? elicitation : undefined,
    approval: isApproval(approval) ? approval : undefined,
    retryAfterSeconds,
  });
}

function isFieldError(value: unknown): value is FieldError {
  return isRecord(value) && typeof value.path === 'string' && typeof value.message === 'string';
}
