import type { FetchLike } from '@modelcontextprotocol/client';
import type { GuardedFetch } from '@parley/shared/ports/delivery/guarded-fetch';
import { type BoundedFetch, createBoundedFetch, WITHOUT_BODY } from '../../oauth/bounded-fetch.ts';
import { readingProviders } from '../../oauth/provider-reply.ts';

interface ServerFetchOptions {
  /** Addresses that the deployer configured. */
  readonly trusted: readonly string[];
  /** For each call to their origins, ms. */
  readonly timeoutMs: number;
  /** Calls all others: a server chose these addresses (SSRF protection). */
  readonly guardedFetch: GuardedFetch;
}

const RESPONSE_BYTES_MAX = 256 * 1024;

/**
 * A fetch for addresses that an MCP server names, which reads replies as those of providers. Follows no redirect: the 3xx is the response.
 */
export function createServerFetch({ trusted, timeoutMs, guardedFetch }: ServerFetchOptions): BoundedFetch {
  const origins = new Set(trusted.map((url) => new URL(url).origin));
  // The MCP server may be a sidecar in production.
  const bounds = { timeoutMs, responseBytesMax: RESPONSE_BYTES_MAX, allowLoopbackHttp: true };
  const boundedFetch = createBoundedFetch(bounds);
  return readingProviders(async (url, init) => {
    if (origins.has(new URL(url).origin)) return boundedFetch(url, init);
    init.signal?.throwIfAborted();
    const text = init.body == null ? undefined : await new Response(init.body).text();
    const reply = await guardedFetch({
      url,
      method: init.method === 'POST' ? 'POST' : 'GET',
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(text !== undefined && { body: text }),
    });
    const headers = new Headers();
    for (const [name, value] of Object.entries(reply.headers))
      for (const one of [value ?? []].flat()) headers.append(name, one);
    const body = WITHOUT_BODY.has(reply.status) ? null : new Uint8Array(reply.body);
    return new Response(body, { status: reply.status, headers });
  });
}

/**
 * Adapts a fetch to the MCP SDK, which follows redirects within an origin. The response is without `location`, so the SDK
 * follows none.
 */
export function asFetchLike(fetch: BoundedFetch): FetchLike {
  return async (url, init) => {
    const response = await fetch(String(url), init ?? {});
    response.headers.delete('location');
    return response;
  };
}
