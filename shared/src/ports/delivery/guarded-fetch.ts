import type { IncomingHttpHeaders } from 'node:http';

export interface GuardedRequest {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface GuardedReply {
  /** A 3xx is a reply like any other: redirects are never followed. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/**
 * Calls a URL that a person or another program chose. Rejects only with `GuardedFetchError` (net/guarded-fetch.ts).
 */
export type GuardedFetch = (request: GuardedRequest) => Promise<GuardedReply>;

/** Why a guarded call failed. After the first two, a retry fails too. */
const GUARDED_FETCH_FAULTS = [
  'refused_url',
  'refused_address',
  'unresolved',
  'timeout',
  'too_large',
  'failed',
] as const;
export type GuardedFetchFault = (typeof GUARDED_FETCH_FAULTS)[number];
