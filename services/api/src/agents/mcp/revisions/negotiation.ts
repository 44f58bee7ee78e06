import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import type { McpConnection } from '../connection.ts';
import { NoSession, RevisionRefused } from '../errors.ts';
import type { McpRevision } from '../server-config.ts';
import type { RevisionReason } from './memory.ts';

/** Opens a connection in a revision. Throws the error of the attempt. */
export type OpenIn = (
  revision: McpRevision,
  options?: { readonly needsSession?: boolean },
) => Promise<McpConnection>;

interface Negotiated {
  readonly connection: McpConnection;
  readonly reason: RevisionReason;
}

// Statuses about the credential, the load or a proxy, not about the revision. A revision chosen because of them would be kept
// after the server has recovered.
const OTHER_MATTERS: ReadonlySet<number> = new Set([401, 403, 408, 429, 502, 503, 504]);
const SERVER_ERROR = 500;
// The SDK throws an error without a class if the server answers `initialize` with an unknown revision.
const UNKNOWN_REVISION = /^Server's protocol version is not supported/;

/**
 * Opens a connection in the revision in which the server can ask. That is 2025-11-25 if the server can reach the client in it:
 * the server can then ask during calls, and its SDK converts `input_required` into such questions. In 2026-07-28 the server can
 * only return `input_required`. The server's declarations do not tell which of the two its tools use.
 */
export async function negotiate(open: OpenIn, isProgram: boolean): Promise<Negotiated> {
  let refusal: unknown;
  try {
    const connection = await open('2025-11-25', { needsSession: !isProgram });
    return { connection, reason: 'can_ask' };
  } catch (error) {
    if (!mayBeRevision(error, isProgram) && !isServerError(error)) throw error;
    refusal = error;
  }
  const hasSessions = !(refusal instanceof NoSession);
  try {
    return { connection: await open('2026-07-28'), reason: hasSessions ? 'other_refused' : 'no_session' };
  } catch (error) {
    // A server that is unavailable now may still accept this revision.
    if (!mayBeRevision(error, isProgram)) throw error;
    if (hasSessions) throw refusal;
  }
  return { connection: await open('2025-11-25'), reason: 'other_refused' };
}

/** Opens a connection in one revision only. */
export async function openOnly(
  open: OpenIn,
  serverId: string,
  revision: McpRevision,
): Promise<McpConnection> {
  try {
    return await open(revision);
  } catch (error) {
    throw mayBeRevision(error, false) ? new RevisionRefused(serverId, revision, error) : error;
  }
}

/**
 * True if the server may accept another revision after this error: the server replied, and the reply is not about something
 * else. Some programs exit at the first request that they do not know.
 */
function mayBeRevision(error: unknown, isProgram: boolean): boolean {
  if (error instanceof NoSession || error instanceof ProtocolError) return true;
  if (error instanceof SdkHttpError) return !isServerError(error) && !OTHER_MATTERS.has(error.status);
  if (error instanceof SdkError) return isRevisionCode(error, isProgram);
  return (
    error instanceof Error &&
    (['SyntaxError', 'ZodError'].includes(error.name) || UNKNOWN_REVISION.test(error.message))
  );
}

/** Some servers of 2026-07-28 fail with a server error at a request without its envelope. */
function isServerError(error: unknown): boolean {
  return error instanceof SdkHttpError && error.status >= SERVER_ERROR && !OTHER_MATTERS.has(error.status);
}

function isRevisionCode({ code, cause }: SdkError, isProgram: boolean): boolean {
  switch (code) {
    case SdkErrorCode.EraNegotiationFailed:
      return cause === undefined || mayBeRevision(cause, isProgram);
    case SdkErrorCode.InvalidResult:
    case SdkErrorCode.ClientHttpUnexpectedContent:
      return true;
    case SdkErrorCode.ConnectionClosed:
      return isProgram;
    default:
      return false;
  }
}
