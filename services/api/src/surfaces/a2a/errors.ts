import { isParleyError, type ParleyError } from '@parley/core/domain/errors';
import { problemOf } from '../../http/problem.ts';
import { json, type Reply } from '../../http/route.ts';
import type { Sdk } from './sdk.ts';

/** Converts an error to its name in A2A. Errors without one stay unchanged, and are replied with their HTTP status. */
export function a2aErrorOf({ errors }: Sdk, error: unknown): unknown {
  if (!isParleyError(error)) return error;
  switch (error.code) {
    case 'not_found':
      return new errors.TaskNotFoundError();
    case 'already_settled':
    case 'expired':
    case 'turn_running':
      return new errors.UnsupportedOperationError({ message: error.message });
    case 'invalid_request':
    case 'invalid_answer':
    case 'idempotency_mismatch':
      return new errors.RequestMalformedError({ message: withIssues(error) });
    default:
      return error;
  }
}

function withIssues({ message, issues = [] }: Pick<ParleyError, 'message' | 'issues'>): string {
  const faults = issues.map(({ path, message: fault }) => (path === '' ? fault : `${path}: ${fault}`));
  return [message, ...faults].join(' ');
}

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const INTERNAL = -32_603;
const RPC_CODES: Readonly<Record<number, number>> = { 400: PARSE_ERROR, 413: INVALID_REQUEST };

/** The JSON-RPC reply for an error that has an HTTP status. It reveals nothing of an error that is not a ParleyError. */
export function rpcProblem(error: unknown, id: unknown = null): Reply {
  const { status, headers, body } = problemOf(error);
  const { 'content-type': _problem, ...others } = headers;
  const { code, detail, errors } = body;
  const data = { code, ...(errors !== undefined && { errors }) };
  const rpc = { code: RPC_CODES[status] ?? INTERNAL, message: detail, data };
  return json(status, { jsonrpc: '2.0', id, error: rpc }, others);
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  413: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

/** The same for HTTP+JSON, as `google.rpc.Status`. */
export function restProblem(error: unknown): Reply {
  const { status, headers, body } = problemOf(error);
  const { 'content-type': _problem, ...others } = headers;
  const message = body.detail;
  return json(
    status,
    { error: { code: status, status: REASONS[status] ?? 'INTERNAL', message, details: [] } },
    { ...others, 'content-type': REST_TYPE },
  );
}

export const REST_TYPE = 'application/a2a+json';
