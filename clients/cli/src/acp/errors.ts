import { RequestError } from '@agentclientprotocol/sdk';
import { isParleyClientError } from '@parley/sdk';

/** Converts an error of Parley to a JSON-RPC error. Other errors are returned unchanged. */
export function requestError(error: unknown, sessionId?: string): unknown {
  if (!isParleyClientError(error)) return error;
  const { code, message } = error;
  if (code === 'unauthenticated' || code === 'forbidden') return RequestError.authRequired({ code }, message);
  if (code === 'not_found' && sessionId !== undefined) return RequestError.sessionNotFound(sessionId);
  if (code === 'invalid_request') return RequestError.invalidParams({ code }, message);
  return new RequestError(INTERNAL, message, { code });
}

const INTERNAL = -32603;
