import { extractWWWAuthenticateParams } from '@modelcontextprotocol/client';
import { bearerFirst, isDpop } from '@parley/shared/domain/oauth/challenge';

/** A server's statements about its authorization, in reply to a request without a credential. */
interface Challenge {
  /** The address of the metadata (RFC 9728). The server chose it, so it is untrusted. */
  readonly resourceMetadataUrl?: string;
  readonly scope?: string;
  /** True where the server takes tokens that are bound to a key (DPoP, RFC 9449). */
  readonly takesBound?: true;
}

/**
 * A request without side effects that both protocol revisions accept. A server that needs a credential refuses it before
 * reading the body.
 */
const REQUEST = JSON.stringify({
  jsonrpc: '2.0',
  id: 'authorization',
  method: 'tools/list',
  params: {},
});
const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

/**
 * Sends a request without a credential to get the server's challenge. The result is empty if the server sends none or cannot be
 * reached.
 */
export async function readChallenge(serverUrl: string, timeoutMs: number): Promise<Challenge> {
  try {
    const response = await fetch(serverUrl, {
      method: 'POST',
      headers: HEADERS,
      body: REQUEST,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    // The body may be an endless event stream.
    await response.body?.cancel();
    if (response.status !== 401 && response.status !== 403) return {};
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(withBearerFirst(response));
    const challenges = response.headers.get('www-authenticate') ?? '';
    return {
      ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl: resourceMetadataUrl.href }),
      ...(scope !== undefined && { scope }),
      ...(isDpop(challenges) && { takesBound: true }),
    };
  } catch {
    return {};
  }
}

/** The SDK reads only the first challenge of a header, and only the Bearer scheme. */
function withBearerFirst({ status, headers }: Response): Response {
  const challenge = bearerFirst(headers.get('www-authenticate') ?? '');
  return new Response(null, { status, headers: { 'www-authenticate': challenge } });
}
