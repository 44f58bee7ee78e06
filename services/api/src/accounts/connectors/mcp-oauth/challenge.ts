import { extractWWWAuthenticateParams } from '@modelcontextprotocol/client';
import { bearerFirst, isDpop } from '@parley/shared/domain/oauth/challenge';

/** What a server says about its authorization when a request has no credential. */
interface Challenge {
  /** RFC 9728. The server chose this address. */
  readonly resourceMetadataUrl?: string;
  readonly scope?: string;
  /** True where the server takes tokens that are bound to a key (DPoP, RFC 9449). */
  readonly takesBound?: true;
}

/** Reads only, and has the form of both revisions. A server that needs a credential refuses it before it reads it. */
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

/** Requests the server without a credential for its challenge. Empty where it sends none, or cannot be reached. */
export async function readChallenge(serverUrl: string, timeoutMs: number): Promise<Challenge> {
  try {
    const response = await fetch(serverUrl, {
      method: 'POST',
      headers: HEADERS,
      body: REQUEST,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    // The body may be an event stream without an end.
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

/** The SDK reads the first challenge of a header only, and no other scheme. */
function withBearerFirst({ status, headers }: Response): Response {
  const challenge = bearerFirst(headers.get('www-authenticate') ?? '');
  return new Response(null, { status, headers: { 'www-authenticate': challenge } });
}
