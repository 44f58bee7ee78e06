import { lookup as dnsLookup } from 'node:dns/promises';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isLoopbackAddress, isPublicAddress } from './address.ts';

/** An address as the resolver gives it. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Every address of a host name. */
export type Resolver = (host: string) => Promise<readonly ResolvedAddress[]>;

export interface GuardOptions {
  /** Allow http and https to `localhost` and loopback addresses, for development. */
  readonly allowLoopback?: boolean;
  /** For the whole call, name look-up included, ms; 5 s unless told. */
  readonly timeoutMs?: number;
  /** 64 kB unless told. */
  readonly responseBytesMax?: number;
  /** The system's resolver unless told. */
  readonly resolve?: Resolver;
}

export interface GuardedRequest {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface GuardedReply {
  /** A 3xx is a reply like any other: redirects are never followed. */
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** Calls a URL that somebody else chose. Rejects with `GuardedFetchError` only. */
export type GuardedFetch = (request: GuardedRequest) => Promise<GuardedReply>;

export type GuardedFetchFault =
  | 'refused_url'
  | 'refused_address'
  | 'unresolved'
  | 'timeout'
  | 'too_large'
  | 'failed';

/** Why a guarded call came to nothing. The text names neither URL, headers nor content. */
export class GuardedFetchError extends Error {
  override readonly name = 'GuardedFetchError';
  readonly code: GuardedFetchFault;

  constructor(code: GuardedFetchFault) {
    super(`guarded call: ${code}`);
    this.code = code;
  }
}

const TIMEOUT_MS = 5_000;
const RESPONSE_BYTES_MAX = 64 * 1024;

/**
 * A client for addresses that are not ours to trust (SSRF): https only, to public addresses only, over a
 * connection to the very address that was checked, so that a name that changes its mind changes nothing.
 */
export function createGuardedFetch(options: GuardOptions = {}): GuardedFetch {
  const { allowLoopback = false, timeoutMs = TIMEOUT_MS } = options;
  const responseBytesMax = options.responseBytesMax ?? RESPONSE_BYTES_MAX;
  const resolve = options.resolve ?? ((host: string) => dnsLookup(host, { all: true }));

  return async (request) => {
    const url = checkedUrl(request.url, allowLoopback);
    const signal = AbortSignal.timeout(timeoutMs);
    const addresses = await withinTime(signal, addressesOf(url, resolve));
    const mayCall = isLoopbackHost(url) ? isLoopbackAddress : isPublicAddress;
    // One bad address among good ones is refused whole: which of them a connection takes is chance.
    if (!addresses.every(({ address }) => mayCall(address))) throw new GuardedFetchError('refused_address');
    try {
      return await send({ url, request, addresses, signal, responseBytesMax });
    } catch (error) {
      if (error instanceof GuardedFetchError) throw error;
      throw new GuardedFetchError(signal.aborted ? 'timeout' : 'failed');
    }
  };
}

/** A look-up for `net.connect` that knows only the addresses that were checked. */
export function pinnedLookup(addresses: readonly ResolvedAddress[]): LookupFunction {
  return (_host, { all }, callback) => {
    const first = addresses[0];
    if (all === true) callback(null, [...addresses]);
    else if (first === undefined) callback(new Error('no address'), '', 4);
    else callback(null, first.address, first.family);
  };
}

function checkedUrl(text: string, allowLoopback: boolean): URL {
  if (!URL.canParse(text)) throw new GuardedFetchError('refused_url');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') throw new GuardedFetchError('refused_url');
  if (isLoopbackHost(url) && !allowLoopback) throw new GuardedFetchError('refused_address');
  const plain = url.protocol === 'http:' && isLoopbackHost(url);
  if (url.protocol !== 'https:' && !plain) throw new GuardedFetchError('refused_url');
  return url;
}

/** Loopback by its written name; what else resolves to loopback is no development set-up but an attack. */
function isLoopbackHost(url: URL): boolean {
  const host = bareHost(url);
  return host === 'localhost' || isLoopbackAddress(host);
}

function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/gu, '');
}

async function addressesOf(url: URL, resolve: Resolver): Promise<readonly ResolvedAddress[]> {
  const host = bareHost(url);
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  const addresses = await resolve(host).catch(() => []);
  if (addresses.length === 0) throw new GuardedFetchError('unresolved');
  return addresses;
}

async function withinTime<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const late = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new GuardedFetchError('timeout')), { once: true });
  });
  return Promise.race([work, late]);
}

interface Sending {
  readonly url: URL;
  readonly request: GuardedRequest;
  readonly addresses: readonly ResolvedAddress[];
  readonly signal: AbortSignal;
  readonly responseBytesMax: number;
}

async function send({ url, request, addresses, signal, responseBytesMax }: Sending): Promise<GuardedReply> {
  const start = url.protocol === 'https:' ? requestHttps : requestHttp;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const { method = 'GET', headers, body } = request;
    // No agent: a kept connection would have been checked for another call.
    const outgoing = start(url, {
      method,
      headers: { ...headers },
      agent: false,
      signal,
      lookup: pinnedLookup(addresses),
    });
    outgoing.once('response', resolve).once('error', reject).end(body);
  });
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > responseBytesMax) {
      response.destroy();
      throw new GuardedFetchError('too_large');
    }
    chunks.push(chunk);
  }
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) };
}
