import type { ErrorCode } from '@parley/shared/domain/errors';
import { ParleyClientError, type Problem } from './errors.ts';

/** The codes this client knows, each with the status that stands for it where a proxy answered instead of Parley. */
const STATUS_OF: Readonly<Record<ErrorCode, number | undefined>> = {
  invalid_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  invalid_answer: 422,
  already_settled: undefined,
  expired: 410,
  idempotency_mismatch: undefined,
  stream_owner_mismatch: undefined,
  turn_running: undefined,
  too_large: 413,
  rate_limited: 429,
  unavailable: 503,
  internal: 500,
};
const CODES = Object.keys(STATUS_OF) as ErrorCode[];
const PASSING_STATUSES = [408, 502, 504];

/** Reads a reply that is not 2xx. */
export async function refusalOf(response: Response): Promise<ParleyClientError> {
  const { status } = response;
  const problem = await problemOf(response);
  const known = CODES.find((code) => code === problem?.code);
  const retryAfterSeconds = secondsOf(response.headers.get('retry-after'));
  return new ParleyClientError(
    PASSING_STATUSES.includes(status) ? 'unavailable' : (known ?? codeOfStatus(status)),
    problem?.detail ?? `The server answered with status ${status}.`,
    { status, problem, retryAfterSeconds },
  );
}

async function problemOf(response: Response): Promise<Problem | undefined> {
  const type = response.headers.get('content-type') ?? '';
  const text = await response.text();
  if (!type.startsWith('application/problem+json')) return undefined;
  try {
    const problem: unknown = JSON.parse(text);
    return typeof problem === 'object' && problem !== null ? problem : undefined;
  } catch {
    return undefined;
  }
}

function codeOfStatus(status: number): ErrorCode {
  const code = CODES.find((known) => STATUS_OF[known] === status);
  return code ?? (status >= 500 ? 'internal' : 'invalid_request');
}

// The date form would have to be held against a clock that may be wrong; without a number the backoff decides.
function secondsOf(header: string | null): number | undefined {
  return header !== null && /^[0-9]{1,9}$/.test(header) ? Number(header) : undefined;
}
