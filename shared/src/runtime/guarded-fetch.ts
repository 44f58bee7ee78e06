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

/** An address as the resolver gives it. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Every address of a host name; none when it has none. Ends its work when aborted. */
export type Resolver = (host: string, signal: AbortSignal) => Promise<readonly ResolvedAddress[]>;

export interface GuardOptions {
  /** Allow http and https to `localhost` and loopback addresses, for development. */
  readonly allowLoopback?: boolean;
  /** For the whole call, name look-up included, ms; 5 s unless told. */
  readonly timeoutMs?: number;
  /** 64 kB unless told. */
  readonly responseBytesMax?: number;
  /** Whether the body of a reply is read. When not, the call is over once status and headers are there. Read unless told. */
  readonly body?: 'read' | 'ignored';
  /** The name servers of the system, asked directly, unless told. */
  readonly resolve?: Resolver;
}

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
  const { responseBytesMax = RESPONSE_BYTES_MAX, body = 'read' } = options;
  const resolve = options.resolve ?? resolveByName;

  return async (request) => {
    const url = checkedUrl(request.url, allowLoopback);
    const signal = AbortSignal.timeout(timeoutMs);
    const addresses = await withinTime(signal, addressesOf(url, resolve, signal));
    const mayCall = isLoopbackHost(url) ? isLoopbackAddress : isPublicAddress;
    // One bad address among good ones is refused whole: which of them a connection takes is chance.
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
 * False for a URL that a guarded fetch refuses whatever its name resolves to: not https, with user information, or with
 * the address of a private place in any of its spellings.
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

async function addressesOf(
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
 * Asks the name servers themselves. The system's look-up works on the few threads that all of this process shares, so
 * names that are slow to resolve would keep everything else waiting.
 */
const resolveByName: Resolver = async (host, signal) => {
  // Of the hosts file, and not of the name servers.
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
    // No agent: a kept connection would have been checked for another call.
    const outgoing = start(url, {
      method,
      headers: { ...headers },
      agent: false,
      signal,
      lookup: pinnedLookup(addresses),
    });
    // A reply that asks for another protocol is neither a response nor an error: the connection just closes.
    outgoing
      .once('response', resolve)
      .once('error', reject)
      .once('close', () => reject(new Error('closed')));
    outgoing.end(body);
  });
  const body = sending.body === 'read' ? await bodyOf(response, sending) : leftUnread(response);
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

async function bodyOf(response: IncomingMessage, { responseBytesMax }: Sending): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop early destroys the response, and with it the connection.
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > responseBytesMax) throw new GuardedFetchError('too_large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function leftUnread(response: IncomingMessage): Buffer {
  response.destroy();
  return Buffer.alloc(0);
}
