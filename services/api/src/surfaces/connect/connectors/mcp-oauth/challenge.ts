import { extractWWWAuthenticateParams } from '@modelcontextprotocol/client';

/** What a server says about its authorization when a request has no credential. */
export interface Challenge {
  /** RFC 9728. The server chose this address. */
  readonly resourceMetadataUrl?: string;
  readonly scope?: string;
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
    return {
      ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl: resourceMetadataUrl.href }),
      ...(scope !== undefined && { scope }),
    };
  } catch {
    return {};
  }
}

/** A server may name several schemes in one header, and the SDK reads only the first. */
function withBearerFirst({ status, headers }: Response): Response {
  const challenges = headers.get('www-authenticate') ?? '';
  const [, bearer = challenges] = /(?:^|,)\s*(Bearer\s.*)$/is.exec(challenges) ?? [];
  return new Response(null, { status, headers: { 'www-authenticate': bearer } });
}
