import type { Approval } from './domain/approvals/approval.ts';
import type { Elicitation } from './domain/elicitations/elicitation.ts';
import type { ErrorCode } from './domain/errors.ts';

/** The problem document of a refused request (RFC 9457), as the server sent it. */
export interface Problem {
  readonly type?: string;
  readonly title?: string;
  readonly status?: number;
  readonly code?: string;
  readonly detail?: string;
  /** One entry for each invalid field. `path` is the field's name, or the place in the request. */
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
  /** The current elicitation; sent with `already_settled` and `expired`. */
  readonly elicitation?: Elicitation;
  /** The current approval; sent with the same codes. */
  readonly approval?: Approval;
}

interface ClientErrorExtras {
  readonly status?: number | undefined;
  readonly problem?: Problem | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
}

/**
 * A refused or failed call. `code` is stable. `unavailable` means that the result is unknown: the server could not be
 * reached, or did not reply in time. Messages never contain tokens or answers.
 *
 * @example
 * try {
 *   await client.answer(id, { action: 'accept', content });
 * } catch (error) {
 *   if (!isParleyClientError(error, 'invalid_answer')) throw error;
 *   for (const { path, message } of error.problem?.errors ?? []) show(path, message);
 * }
 */
export class ParleyClientError extends Error {
  readonly code: ErrorCode;
  /** HTTP status; absent when there was no reply. */
  readonly status: number | undefined;
  /** The server's Retry-After, in seconds. */
  readonly retryAfterSeconds: number | undefined;
  readonly #problem: Problem | undefined;

  constructor(code: ErrorCode, message: string, extras: ClientErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.name = 'ParleyClientError';
    this.code = code;
    this.status = extras.status;
    this.retryAfterSeconds = extras.retryAfterSeconds;
    this.#problem = extras.problem;
  }

  /** The problem document. Not enumerable: it may contain a person's answer, which a logged error must not show. */
  get problem(): Problem | undefined {
    return this.#problem;
  }
}

/** Recognises a ParleyClientError by its properties, so that it also works across two copies of this package. */
export function isParleyClientError(error: unknown, code?: ErrorCode): error is ParleyClientError {
  if (!(error instanceof Error) || error.name !== 'ParleyClientError' || !('code' in error)) return false;
  return code === undefined || error.code === code;
}

/** Whether the same call may succeed if it is repeated. */
export function isTransient(error: unknown): error is ParleyClientError {
  if (!isParleyClientError(error)) return false;
  const { code, status = 0 } = error;
  return code === 'unavailable' || code === 'rate_limited' || code === 'read_quota' || status >= 500;
}
