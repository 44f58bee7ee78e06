import { isParleyError } from '@parley/core/domain/errors';
import { problemOf } from '../../http/problem.ts';
import { json, type Reply } from '../../http/route.ts';
import type { OpenAiError, OpenAiErrorType } from './shapes.ts';

const TYPES: Readonly<Record<number, OpenAiErrorType>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
};

/** A refused call in OpenAI's format. `code` is Parley's code; `param` is the first invalid field. */
export function openAiRefusal(error: unknown): Reply {
  const { status, headers, body } = problemOf(error);
  const [issue] = isParleyError(error) ? (error.issues ?? []) : [];
  const message = issue === undefined ? String(body.detail) : `${issue.path}: ${issue.message}`;
  const type = TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error');
  const refusal: OpenAiError = {
    error: { message, type, param: issue?.path ?? null, code: String(body.code) },
  };
  const { 'content-type': _problem, ...others } = headers;
  return json(status, refusal, others);
}
