/**
 * The HTTP client for URLs that others choose, protected against requests to internal addresses (SSRF). Which ranges are public
 * is decided in `address.ts`; retries and signatures are the callers' business.
 */

import { Resolver as DnsResolver, lookup as systemLookup } from 'node:dns/promises';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type {
  GuardedFetch,
  GuardedFetchFault,
  GuardedReply,
  GuardedRequest,
} from '../ports/delivery/guarded-fetch.ts';
import { isLoopbackAddress, isPublicAddress } from './address.ts';

/** An address that a host name resolves to. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Resolves a host name to all its addresses; the list is empty when it has none. Stops when aborted. */
export type Resolver = (host: string, signal: AbortSignal) => Promise<readonly ResolvedAddress[]>;

export interface GuardOptions {
  /** Allows http and https to `localhost` and loopback addresses, for development. */
  readonly allowLoopback?: boolean;
  /** The time limit of a whole call, including name resolution, in ms. Default 5 s. */
  readonly timeoutMs?: number;
  /** The maximum size of a reply's body. Default 64 kB. */
  readonly responseBytesMax?: number;
  /** Whether to read the body of a reply. With `ignored`, the call ends after status and headers. Default `read`. */
  readonly body?: 'read' | 'ignored';
  /** The resolver. By default, the system's name servers are queried directly. */
  readonly resolve?: Resolver;
}

/** The error of a guarded call. Its message contains neither the URL nor headers or content. */
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
 * Makes an HTTP client for untrusted URLs (SSRF protection): https only, and public addresses only. It connects to the
 * address that was checked, so DNS rebinding has no effect.
 */
export function createGuardedFetch(options: GuardOptions = {}): GuardedFetch {
  const { allowLoopback = false, timeoutMs = TIMEOUT_MS } = options;
  const { responseBytesMax = RESPONSE_BYTES_MAX, body = 'read' } = options;
  const resolve = options.resolve ?? resolveByName;

  return async (request) => {
    const url = checkedUrl(request.url, allowLoopback);
    const signal = AbortSignal.timeout(timeoutMs);
    const addresses = await withinTime(signal, resolveAddresses(url, resolve, signal));
    const mayCall = isLoopbackHost(url) ? isLoopbackAddress : isPublicAddress;
    // One forbidden address is enough to refuse the call, because the connection may use any of them.
    if (!addresses.every(({ address }) => mayCall(address))) throw new GuardedFetchError('refused_address');
    try {
      return await withinTime(signal, send({ url, request, addresses, signal, responseBytesMax, body }));
    } catch (error) {
      if (error instanceof GuardedFetchError) throw error;
      throw new GuardedFetchError(signal.aborted ? 'timeout' : 'failed');
    }
  };
}

/**
 * False for a URL that a guarded fetch always refuses, whatever its host resolves to: one without https, with user information,
 * or with a private address in any notation.
 */
export function mayBeCalled(
  text: string,
  { allowLoopback = false }: Pick<GuardOptions, 'allowLoopback'> = {},
): boolean {
  try {
    const url = checkedUrl(text, allowLoopback);
    const host = bareHost(url);
    return isIP(host) === 0 || isLoopbackHost(url) || isPublicAddress(host);
  } catch {
    return false;
  }
}

/** A lookup function for `net.connect` that returns only the checked addresses. */
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

/** True for a literal loopback host. Any other name that resolves to loopback is treated as an attack. */
function isLoopbackHost(url: URL): boolean {
  const host = bareHost(url);
  return host === 'localhost' || isLoopbackAddress(host);
}

function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/gu, '');
}

async function resolveAddresses(
  url: URL,
  resolve: Resolver,
  signal: AbortSignal,
): Promise<readonly ResolvedAddress[]> {
  const host = bareHost(url);
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  const addresses = await resolve(host, signal).catch(() => []);
  if (addresses.length === 0) throw new GuardedFetchError('unresolved');
  return addresses;
}

/**
 * Queries the name servers directly. The system's lookup would occupy the small thread pool of this process, so that slow names
 * delay all other work.
 */
const resolveByName: Resolver = async (host, signal) => {
  // `localhost` is in the hosts file, not on the name servers.
  if (host === 'localhost') return systemLookup(host, { all: true });
  const resolver = new DnsResolver();
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  const none = () => [];
  const [v4, v6] = await Promise.all([
    resolver.resolve4(host).catch(none),
    resolver.resolve6(host).catch(none),
  ]);
  signal.removeEventListener('abort', cancel);
  return [...v4.map((address) => ({ address, family: 4 })), ...v6.map((address) => ({ address, family: 6 }))];
};

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
  readonly body: 'read' | 'ignored';
}

async function send(sending: Sending): Promise<GuardedReply> {
  const { url, request, addresses, signal } = sending;
  const start = url.protocol === 'https:' ? requestHttps : requestHttp;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const { method = 'GET', headers, body } = request;
    // No agent is used, because the address of a reused connection was checked for another call.
    const outgoing = start(url, {
      method,
      headers: { ...headers },
      agent: false,
      signal,
      lookup: pinnedLookup(addresses),
    });
    // A reply that switches protocols causes neither a response nor an error; the connection just closes.
    outgoing
      .once('response', resolve)
      .once('error', reject)
      .once('close', () => reject(new Error('closed')));
    outgoing.end(body);
  });
  const body = sending.body === 'read' ? await readBody(response, sending) : discardBody(response);
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

async function readBody(response: IncomingMessage, { responseBytesMax }: Sending): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // An early exit from the loop destroys the response and its connection.
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > responseBytesMax) throw new GuardedFetchError('too_large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function discardBody(response: IncomingMessage): Buffer {
  response.destroy();
  return Buffer.alloc(0);
}
