import { type ErrorCode, isParleyError, ParleyError } from '@parley/core/domain/errors';

/** The only mapping from error codes to HTTP statuses. */
export const STATUS_OF: Readonly<Record<ErrorCode, number>> = {
  invalid_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  invalid_answer: 422,
  already_settled: 409,
  expired: 410,
  idempotency_mismatch: 409,
  stream_owner_mismatch: 409,
  turn_running: 409,
  user_erased: 409,
  turn_quota: 429,
  token_quota: 429,
  conversation_quota: 429,
  storage_quota: 429,
  workflow_quota: 429,
  too_large: 413,
  rate_limited: 429,
  read_quota: 429,
  unavailable: 503,
  pod_busy: 503,
  internal: 500,
};

const TITLE_OF: Readonly<Record<ErrorCode, string>> = {
  invalid_request: 'Invalid request',
  unauthenticated: 'Unauthenticated',
  forbidden: 'Forbidden',
  not_found: 'Not found',
  invalid_answer: 'Invalid answer',
  already_settled: 'Already settled',
  expired: 'Expired',
  idempotency_mismatch: 'Idempotency key reused',
  stream_owner_mismatch: 'Stream request of another user',
  turn_running: 'Turn running',
  user_erased: 'User erased',
  turn_quota: 'Too many turns at once',
  token_quota: 'Tokens used up',
  conversation_quota: 'Too many conversations',
  storage_quota: 'Storage used up',
  workflow_quota: 'Too many entries of workflows',
  too_large: 'Too large',
  rate_limited: 'Too many requests',
  read_quota: 'Too many reads',
  unavailable: 'Temporarily unavailable',
  pod_busy: 'This pod is full',
  internal: 'Internal error',
};

interface ProblemReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * Converts any thrown value to problem details (RFC 9457). An error that is not a ParleyError becomes `internal` and reveals
 * nothing.
 */
export function problemOf(error: unknown): ProblemReply {
  const known = isParleyError(error)
    ? error
    : new ParleyError('internal', 'Something went wrong on our side; the log has the details.');
  const status = STATUS_OF[known.code];
  return {
    status,
    headers: {
      'content-type': 'application/problem+json',
      ...(known.retryAfterSeconds !== undefined && { 'retry-after': String(known.retryAfterSeconds) }),
      // OpenAI's clients retry after a 500 unless this header forbids it.
      ...(known.retry === false && { 'x-should-retry': 'false' }),
      ...(known.code === 'unauthenticated' && { 'www-authenticate': 'Bearer' }),
    },
    body: {
      type: `https://parley.dev/problems/${known.code}`,
      title: TITLE_OF[known.code],
      status,
      code: known.code,
      detail: known.message,
      ...(known.issues !== undefined && { errors: known.issues }),
      ...(known.elicitation !== undefined && { elicitation: known.elicitation }),
      ...(known.approval !== undefined && { approval: known.approval }),
    },
  };
}

/** The error for a path without a route. */
export function noSuchCall(): ParleyError {
  return new ParleyError('not_found', 'There is no such call; see /docs.');
}
