import { faultOfUrl } from '@parley/core/domain/url';
import { withTimeLimit } from '@parley/shared/async/time-limit';

/** Bounds on calls to servers that the deployer configured. Addresses from others go through `net/guarded-fetch.ts`. */
interface OutboundBounds {
  readonly timeoutMs: number;
  readonly responseBytesMax: number;
  /** Allow http on loopback hosts, for development. */
  readonly allowLoopbackHttp: boolean;
}

export type BoundedFetch = (url: string, init: RequestInit) => Promise<Response>;

/** Why a bounded call failed. The text contains neither address nor content. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly code: 'refused_url' | 'too_large';

  constructor(code: 'refused_url' | 'too_large') {
    super(code === 'too_large' ? 'the response is too large' : 'the URL may not be called');
    this.code = code;
  }
}

/** The statuses whose responses have no body. */
export const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * A fetch that reads the whole response under a time limit and a size limit. It follows no redirect, and returns the 3xx
 * response. Rejects with `OutboundError`, or as `fetch` does.
 */
export function createBoundedFetch(bounds: OutboundBounds): BoundedFetch {
  return async (url, init) => {
    if (faultOfUrl(url, bounds) !== undefined) throw new OutboundError('refused_url');
    return withTimeLimit(bounds.timeoutMs, init.signal ?? undefined, async (signal) => {
      const response = await fetch(url, { ...init, redirect: 'manual', signal });
      const body = await readBounded(response, bounds.responseBytesMax);
      const { status, statusText, headers } = response;
      return new Response(WITHOUT_BODY.has(status) ? null : body, { status, statusText, headers });
    });
  };
}

async function readBounded(response: Response, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > bytesMax) throw new OutboundError('too_large');
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}
