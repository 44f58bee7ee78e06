import { isPassing, ParleyClientError } from './errors.ts';
import { refusalOf } from './refusal.ts';
import { createBackoff, type RetrySettings, sleep, within } from './retry.ts';

/** A bearer token, or a function that gives one for each request. What it throws is thrown on, untried again. */
export type TokenSource = string | (() => string | Promise<string>);

export interface Call {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** The way to the server. Every method throws ParleyClientError, or the reason of the call's signal. */
export interface Transport {
  /** One try; resolves when the head of a 2xx reply is in. `signal` cuts the reply, too. */
  open(call: Call, signal: AbortSignal): Promise<Response>;
  /** One try of at most `timeoutMs`; resolves with the reply's JSON. */
  attempt(call: Call, timeoutMs: number): Promise<unknown>;
  /** Tries until the result is known or `giveUpMs` is over. Only for calls that may be sent twice. */
  request(call: Call, options?: RequestOptions): Promise<unknown>;
}

export interface RequestOptions {
  /** That of `retry` by default. */
  readonly giveUpMs?: number;
  /** Aborted, there are no more tries, and its reason is thrown; the present one goes on. The call's signal by default. */
  readonly tries?: AbortSignal;
  /** Told of what a try failed with when another one may follow. */
  readonly onTrouble?: (error: ParleyClientError) => void;
}

export interface TransportDeps {
  readonly baseUrl: string;
  readonly token: TokenSource;
  readonly fetch: typeof fetch;
  readonly retry: RetrySettings;
}

export function createTransport({ baseUrl, token, fetch, retry }: TransportDeps): Transport {
  const root = rootOf(baseUrl);

  async function open(call: Call, signal: AbortSignal): Promise<Response> {
    const headers = headersOf(call, typeof token === 'string' ? token : await token());
    const response = await reached(() =>
      fetch(`${root}${call.path}${queryOf(call)}`, {
        method: call.method,
        headers,
        credentials: 'omit',
        signal,
        ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
      }),
    );
    if (response.ok) return response;
    throw await reached(() => refusalOf(response));
  }

  function attempt(call: Call, timeoutMs: number): Promise<unknown> {
    return within(timeoutMs, call.signal, async (signal) => {
      const response = await open(call, signal);
      return parsed(await reached(() => response.text()), response.status);
    });
  }

  async function request(call: Call, options: RequestOptions = {}): Promise<unknown> {
    const { giveUpMs = retry.giveUpMs, tries = call.signal, onTrouble } = options;
    const giveUpAt = performance.now() + giveUpMs;
    const backoff = createBackoff(retry);
    for (;;) {
      try {
        const leftMs = Math.max(giveUpAt - performance.now(), 1);
        return await attempt(call, Math.min(retry.attemptMs, leftMs));
      } catch (error) {
        if (!isPassing(error)) throw error;
        onTrouble?.(error);
        const delayMs = backoff.next(error.retryAfterSeconds);
        if (performance.now() + delayMs >= giveUpAt) throw error;
        await sleep(delayMs, tries);
      }
    }
  }

  return { open, attempt, request };
}

/** An id as one segment of a path. The dots would be resolved away, and the call would reach another route. */
export function segmentOf(id: string): string {
  if (id !== '' && id !== '.' && id !== '..' && id.isWellFormed()) return encodeURIComponent(id);
  throw new ParleyClientError('not_found', 'This is not an id.');
}

function rootOf(baseUrl: string): string {
  // Relative to the page in a browser; there is no page in Node.
  const page = globalThis.location?.href;
  const url = URL.canParse(baseUrl, page) ? new URL(baseUrl, page) : undefined;
  const plain = url !== undefined && /^https?:$/.test(url.protocol) && url.username + url.password === '';
  // What was given stays out of the message: it may hold a password.
  if (!plain) throw new ParleyClientError('invalid_request', 'baseUrl must be an http(s) URL without user.');
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

function queryOf({ query = {} }: Call): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

/** Makes headers of what was given. Throws `invalid_request` when a name or a value is none that a header can have. */
export function headersFrom(given: HeadersInit | undefined): Headers {
  try {
    return new Headers(given);
  } catch {
    // The cause is left out: its message would repeat the value.
    throw new ParleyClientError(
      'invalid_request',
      'A header, the token, the idempotency key or the last event id holds characters that no header can carry.',
    );
  }
}

function headersOf(call: Call, token: string): Headers {
  return headersFrom({
    accept: 'application/json',
    ...(call.body !== undefined && { 'content-type': 'application/json' }),
    ...call.headers,
    authorization: `Bearer ${token}`,
  });
}

/** What goes wrong on the wire is an outage: nobody knows whether the server did it. */
async function reached<T>(use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    throw new ParleyClientError('unavailable', 'The connection to the server failed.', { cause: error });
  }
}

function parsed(text: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ParleyClientError('internal', 'The reply is not JSON; check baseUrl.', { status });
  }
}
