import { SdkHttpError } from '@modelcontextprotocol/client';

/**
 * The state of a session after a failed request. `expired`: the server does not know the session, and has not executed the
 * request. `lost`: the server does not know the session, and may have executed the request.
 */
export type SessionFate = 'known' | 'expired' | 'lost';

// A server that does not reply to a ping in this time counts as knowing the session.
const PING_MS = 2_000;
const NOT_FOUND = 404;
// Statuses about the credential or the load, not about the session.
const OTHER_MATTERS: ReadonlySet<number> = new Set([401, 403, 429]);
const CLIENT_ERROR = 400;
const SERVER_ERROR = 500;
const TEXT_MAX = 2_000;
const NO_SESSION =
  /session.{0,80}\b(?:not found|not initialized|unknown|invalid|expired|terminated)|\b(?:no|no valid|unknown|invalid|expired)(?: mcp)?[ -]session|server not initialized/i;

/**
 * Makes the session check of a connection. Only a 404, or a refusal that names the session, shows that the server did nothing.
 * Any other status may come from a tool, a proxy or an overload, so a ping on the same session decides. Requests that fail
 * together share one ping.
 */
export function createSessionCheck(
  sessionId: () => string | undefined,
  ping: (timeoutMs: number) => Promise<unknown>,
): (error: unknown) => Promise<SessionFate> {
  let pinging: Promise<boolean> | undefined;

  async function isPingRefused(): Promise<boolean> {
    try {
      await ping(PING_MS);
      return false;
    } catch (error) {
      return error instanceof SdkHttpError && concernsSession(error);
    } finally {
      pinging = undefined;
    }
  }

  return async (error) => {
    if (!(error instanceof SdkHttpError) || sessionId() === undefined) return 'known';
    if (namesSession(error)) return 'expired';
    if (!concernsSession(error)) return 'known';
    pinging ??= isPingRefused();
    return (await pinging) ? 'lost' : 'known';
  };
}

function concernsSession({ status }: SdkHttpError): boolean {
  return status >= CLIENT_ERROR && !OTHER_MATTERS.has(status);
}

/** True for a refusal that names the session. A 5xx never counts, because it may come after the effect. */
function namesSession({ status, data }: SdkHttpError): boolean {
  if (status === NOT_FOUND) return true;
  return (
    status >= CLIENT_ERROR &&
    status < SERVER_ERROR &&
    NO_SESSION.test(String(data.text ?? '').slice(0, TEXT_MAX))
  );
}
