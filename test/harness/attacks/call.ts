import { ERROR_CODES, type ErrorCode } from '@parley/core/domain/errors';
import { expect } from 'vitest';

export interface Request {
  /** GET by default. */
  readonly method?: string;
  readonly path: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly raw?: string | Uint8Array<ArrayBuffer>;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** Empty for an event stream, which is left at once. */
  readonly text: string;
  readonly json: unknown;
}

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ErrorCode;
  readonly detail: string;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
  readonly elicitation?: { readonly elicitationId: string; readonly status: string };
}

// A reply that takes longer than this is a hang, on the slowest machine.
const HANG_MS = 20_000;

/** One request, one reply; rejects when none comes. */
export async function call(base: string, request: Request): Promise<Reply> {
  const { method = 'GET', path, token, headers = {}, body, raw } = request;
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await fetch(`${base}${path}`, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(payload !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(payload !== undefined && { body: payload }),
    signal: AbortSignal.timeout(HANG_MS),
    redirect: 'manual',
  });
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (isStream) await response.body?.cancel();
  const text = isStream ? '' : await response.text();
  return { status: response.status, headers: response.headers, text, json: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The statuses of docs/http-api.md. 405 alone shares its code. */
const STATUSES: Readonly<Record<ErrorCode, readonly number[]>> = {
  invalid_request: [400, 405, 408, 417],
  unauthenticated: [401],
  forbidden: [403],
  not_found: [404],
  invalid_answer: [422],
  already_settled: [409],
  idempotency_mismatch: [409],
  stream_owner_mismatch: [409],
  turn_running: [409],
  user_erased: [409],
  turn_quota: [429],
  token_quota: [429],
  conversation_quota: [429],
  storage_quota: [429],
  workflow_quota: [429],
  expired: [410],
  too_large: [413, 431],
  rate_limited: [429],
  read_quota: [429],
  unavailable: [503],
  pod_busy: [503],
  internal: [],
};

/** A refusal as every refusal must be: problem+json, a stable code, words that help, nothing from inside. */
export function expectProblem(
  reply: Pick<Reply, 'status' | 'headers' | 'text' | 'json'>,
  status: number,
  code: ErrorCode,
): Problem {
  expect({ status: reply.status, code: (reply.json as Problem | undefined)?.code }, reply.text).toEqual({
    status,
    code,
  });
  return expectSomeProblem(reply);
}

/** As `expectProblem`, whatever the refusal. */
export function expectSomeProblem(reply: Pick<Reply, 'status' | 'headers' | 'text' | 'json'>): Problem {
  const problem = reply.json as Problem;
  expect(reply.headers.get('content-type'), reply.text).toBe('application/problem+json');
  expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
  expect(reply.headers.get('cache-control')).toBe('no-store');
  expect(ERROR_CODES).toContain(problem.code);
  expect(STATUSES[problem.code], reply.text).toContain(reply.status);
  expect(problem.status).toBe(reply.status);
  expect(problem.type).toBe(`https://parley.dev/problems/${problem.code}`);
  expect(problem.title).toMatch(/^[A-Z]/);
  expect(problem.detail).toMatch(/^[A-Z].{10,300}\.$/s);
  if (reply.status === 429 || reply.status === 503) {
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  if (problem.errors !== undefined) expectReadable(problem.errors);
  expect(reply.text, 'something from inside').not.toMatch(/node_modules|\.ts:\d|\.js:\d|ReplyError|evalsha/i);
  return problem;
}

/** A list that a person can read, however much there was to find fault with. */
function expectReadable(errors: NonNullable<Problem['errors']>): void {
  expect(errors.length).toBeGreaterThan(0);
  expect(errors.length).toBeLessThanOrEqual(50);
  for (const { path, message } of errors) {
    expect(typeof path).toBe('string');
    expect(message.length).toBeGreaterThan(5);
    expect(message.length + path.length).toBeLessThanOrEqual(2_000);
  }
}

/** The places that `errors` names. */
export function pathsOf(problem: Problem): string[] {
  return (problem.errors ?? []).map(({ path }) => path);
}
