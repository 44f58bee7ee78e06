import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';

/** What went wrong at an authorization server, in words that may be logged. */
export interface ServerFault {
  /** `refused`: it answered with an OAuth error; `malformed`: its answer is none; `unavailable`: no answer. */
  readonly kind: 'refused' | 'malformed' | 'unavailable';
  readonly providerError?: string;
}

// Anything else could be a secret that the server reflects.
const REGISTERED_ERRORS = new Set([
  'access_denied',
  'account_selection_required',
  'bad_refresh_token',
  'bad_verification_code',
  'consent_required',
  'interaction_required',
  'invalid_client',
  'invalid_grant',
  'invalid_request',
  'invalid_scope',
  'invalid_target',
  'login_required',
  'server_error',
  'temporarily_unavailable',
  'unauthorized_client',
  'unsupported_grant_type',
  'unsupported_response_type',
]);
const DOWN = new Set(['server_error', 'temporarily_unavailable']);

/** `error` as it may be shown: itself when registered, else `other`. */
export function publicErrorCode(error: string): string {
  return REGISTERED_ERRORS.has(error) ? error : 'other';
}

/** Sorts what openid-client threw. The error itself holds request and response, and goes no further. */
export function faultOf(error: unknown): ServerFault {
  if (error instanceof ResponseBodyError) return faultOfAnswer(error.error, error.status);
  if (error instanceof AuthorizationResponseError) return faultOfAnswer(error.error, 400);
  // A 401 with a challenge is the server's word on our client, whatever its body says.
  if (error instanceof WWWAuthenticateChallengeError) return faultOfAnswer('invalid_client', 401);
  if (!(error instanceof ClientError)) return { kind: 'unavailable' };
  const status = error.cause instanceof Response ? error.cause.status : undefined;
  if (status !== undefined && (status >= 500 || status === 429)) return { kind: 'unavailable' };
  // Some servers send their errors with status 200, where they read as an answer without a token.
  const reported = reportedError(error.cause);
  if (reported !== undefined) return faultOfAnswer(reported, 400);
  return {
    kind: error.code?.startsWith('OAUTH_') === true && !isTimeout(error) ? 'malformed' : 'unavailable',
  };
}

function isTimeout({ code }: ClientError): boolean {
  return code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT';
}

function faultOfAnswer(error: string, status: number): ServerFault {
  const down = status >= 500 || status === 429 || DOWN.has(error);
  return { kind: down ? 'unavailable' : 'refused', providerError: publicErrorCode(error) };
}

function reportedError(cause: unknown): string | undefined {
  for (let at = cause, depth = 0; at instanceof Object && depth < 3; depth++) {
    const { body, cause: deeper } = at as { body?: { error?: unknown }; cause?: unknown };
    if (typeof body?.error === 'string') return body.error;
    at = deeper;
  }
  return undefined;
}
