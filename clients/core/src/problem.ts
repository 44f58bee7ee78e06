import type { ErrorCode } from './domain/errors.ts';
import { ParleyClientError, type Problem } from './errors.ts';

/**
 * The codes that this client knows, with their statuses. If a proxy replies instead of Parley, the status determines the code.
 */
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
  user_erased: undefined,
  turn_quota: undefined,
  token_quota: undefined,
  conversation_quota: undefined,
  storage_quota: undefined,
  workflow_quota: undefined,
  too_large: 413,
  rate_limited: 429,
  read_quota: undefined,
  unavailable: 503,
  pod_busy: undefined,
  internal: 500,
};
const CODES = Object.keys(STATUS_OF) as ErrorCode[];
const TRANSIENT_STATUSES = [408, 502, 504];

/** Reads a reply that is not 2xx. Rejects if its body cannot be read. */
export async function readRefusal(
  response: Response,
  acceptsProblem: (contentType: string) => boolean,
): Promise<ParleyClientError> {
  const { status } = response;
  const problem = await readProblem(response, acceptsProblem);
  const known = CODES.find((code) => code === problem?.code);
  return new ParleyClientError(
    TRANSIENT_STATUSES.includes(status) ? 'unavailable' : (known ?? codeOfStatus(status)),
    messageOf(problem) ?? `The server answered with status ${status}.`,
    { status, problem, retryAfterSeconds: parseRetryAfter(response.headers.get('retry-after')) },
  );
}

/** The maximum number of fields that a message names; the problem document has all. */
const FIELDS_NAMED_MAX = 3;

/** The server's description, with the names of the invalid fields. */
function messageOf({ detail, errors }: Problem = {}): string | undefined {
  if (detail === undefined || !Array.isArray(errors) || errors.length === 0) return detail;
  const faults = errors.slice(0, FIELDS_NAMED_MAX).map(({ path, message }) => `${path}: ${message}`);
  const others = errors.length - faults.length;
  return `${detail} ${faults.join('; ')}${others > 0 ? `; and ${others} more` : ''}`;
}

export function isProblemType(contentType: string): boolean {
  return contentType.startsWith('application/problem+json');
}

async function readProblem(
  response: Response,
  acceptsProblem: (contentType: string) => boolean,
): Promise<Problem | undefined> {
  const type = response.headers.get('content-type') ?? '';
  const text = await response.text();
  if (!acceptsProblem(type)) return undefined;
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

// The date form is ignored, because it depends on the local clock, which may be wrong. Without a number, the back-off decides.
function parseRetryAfter(header: string | null): number | undefined {
  return header !== null && /^[0-9]{1,9}$/.test(header) ? Number(header) : undefined;
}
