import type { IncomingHttpHeaders } from 'node:http';

export interface GuardedRequest {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface GuardedReply {
  /** The status of the reply. Redirects are never followed, so a 3xx is a reply too. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/**
 * Calls a URL that a person or another program chose.
 *
 * @throws GuardedFetchError (net/guarded-fetch.ts), and no other error
 */
export type GuardedFetch = (request: GuardedRequest) => Promise<GuardedReply>;

/** Why a guarded call failed. After one of the first two faults, a retry fails too. */
const GUARDED_FETCH_FAULTS = [
  'refused_url',
  'refused_address',
  'unresolved',
  'timeout',
  'too_large',
  'failed',
] as const;
export type GuardedFetchFault = (typeof GUARDED_FETCH_FAULTS)[number];
