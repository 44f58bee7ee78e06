/**
 * Classifies errors of authorization servers in words that may be logged. What a connector does about them is decided there.
 */

import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';

/** What failed at an authorization server, in words that may be logged. */
export interface ServerFault {
  /** `refused`: it answered with an OAuth error. `malformed`: its answer is invalid. `unavailable`: it did not answer. */
  readonly kind: 'refused' | 'malformed' | 'unavailable';
  readonly providerError?: string;
  /** Repeating the request brings the same answer: the server refuses the grant, not the client or the moment. */
  readonly isDefinite: boolean;
}

// Any other value could be a secret that the server reflects.
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
/** Error codes that mean "try later", from the standards and from Slack. */
const DOWN = new Set([
  ...[
    'server_error',
    'temporarily_unavailable',
    'slow_down',
    'ratelimited',
    'rate_limited',
    'request_timeout',
  ],
  ...['internal_error', 'fatal_error', 'service_unavailable'],
]);
/** Error codes that concern Parley's own registration. The deployer must fix it; connecting again does not help. */
const OUR_CLIENT = new Set([
  'invalid_client',
  'invalid_client_id',
  'bad_client_secret',
  'incorrect_client_credentials',
]);
/** Statuses that mean "try later": from proxies, for timeouts, early data and too many requests. */
const LATER = new Set([407, 408, 425, 429]);

/** `error` as it may be shown: unchanged if it is registered, else `other`. */
export function publicErrorCode(error: string): string {
  return REGISTERED_ERRORS.has(error) ? error : 'other';
}

/** Why metadata cannot be used, in words that may be logged. */
export function metadataFaultOf(error: unknown): { readonly isOtherIssuer: boolean; readonly what: string } {
  const isOtherIssuer =
    error instanceof ClientError && error.code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED';
  return { isOtherIssuer, what: isOtherIssuer ? 'names another issuer' : 'cannot be had' };
}

/** Classifies an error of openid-client. The error itself contains request and response, so it is not passed on. */
export function faultOf(error: unknown): ServerFault {
  if (error instanceof ResponseBodyError)
    return faultOfAnswer(error.error, isAskedToWait(error.response) ? 429 : error.status);
  if (error instanceof AuthorizationResponseError) return faultOfAnswer(error.error, 400);
  if (error instanceof WWWAuthenticateChallengeError) {
    // In a challenge without an error code, most servers object to Parley's client, and some to the token.
    const named = error.cause.map(({ parameters }) => parameters.error).find((code) => code !== undefined);
    return named === undefined
      ? { kind: 'refused', providerError: 'invalid_client', isDefinite: true }
      : faultOfAnswer(named, 401);
  }
  if (!(error instanceof ClientError)) return { kind: 'unavailable', isDefinite: false };
  const response = error.cause instanceof Response ? error.cause : undefined;
  const status = response?.status;
  if (status !== undefined && (isLater(status) || isAskedToWait(response)))
    return { kind: 'unavailable', isDefinite: false };
  // Some servers send errors with status 200, which the library reads as an answer without a token.
  const reported = reportedError(error.cause);
  if (reported !== undefined) return faultOfAnswer(reported, 400);
  // The token is of a kind that cannot be presented. The previous token is already replaced.
  if (error.code === 'OAUTH_UNSUPPORTED_OPERATION') return { kind: 'malformed', isDefinite: true };
  const isMalformed = error.code?.startsWith('OAUTH_') === true && !isTimeout(error);
  return {
    kind: isMalformed ? 'malformed' : 'unavailable',
    isDefinite: isMalformed && status !== undefined && isRefusal(status),
  };
}

/** True for a refusal that says when to try again. */
function isAskedToWait(response: Response | undefined): boolean {
  return response?.headers.has('retry-after') === true;
}

function isLater(status: number): boolean {
  return status >= 500 || LATER.has(status);
}

function isRefusal(status: number): boolean {
  return status >= 400 && !isLater(status);
}

function isTimeout({ code }: ClientError): boolean {
  return code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT';
}

function faultOfAnswer(error: string, status: number): ServerFault {
  const isDown = isLater(status) || DOWN.has(error);
  return {
    kind: isDown ? 'unavailable' : 'refused',
    providerError: publicErrorCode(error),
    isDefinite: !isDown && isRefusal(status) && !OUR_CLIENT.has(error),
  };
}

function reportedError(cause: unknown): string | undefined {
  for (let at = cause, depth = 0; at instanceof Object && depth < 3; depth++) {
    const { body, cause: deeper } = at as { body?: { error?: unknown }; cause?: unknown };
    if (typeof body?.error === 'string') return body.error;
    at = deeper;
  }
  return undefined;
}
