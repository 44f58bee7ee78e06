/**
 * Sends HTTP calls with a token, retries and time limits; all clients share it. It does not know what calls mean, only which of
 * them may be repeated.
 */

import { isParleyClientError, isTransient, ParleyClientError } from './errors.ts';
import { isProblemType, readRefusal } from './problem.ts';
import { createBackoff, type RetrySettings } from './retry.ts';
import { sleep, withTimeout } from './time.ts';

/** A bearer token, or a function that returns one for each request. If the function throws, the call fails with its error. */
export type TokenSource = string | (() => string | Promise<string>);

/** One HTTP request to Parley. */
export interface HttpCall {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Lets the request outlive its page, if its body is small enough for browsers to allow that. */
  readonly keepalive?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Sends calls with a token. Every method rejects with ParleyClientError, or with the reason of the call's signal. */
export interface Transport {
  readonly retry: RetrySettings;
  /** Makes one try. Resolves when the headers of a 2xx reply have arrived. `signal` also ends the reply's body. */
  open(call: HttpCall, signal: AbortSignal): Promise<Response>;
  /** Makes one try of at most `timeoutMs`. Resolves with the reply's JSON. */
  attempt(call: HttpCall, timeoutMs: number): Promise<unknown>;
  /** Tries until the result is known or the limit is reached. Only for calls that are safe to repeat. */
  request(call: HttpCall, options?: RequestOptions): Promise<unknown>;
}

export interface RequestOptions {
  /** When to stop trying, in ms. @default the value of the transport's `retry` */
  readonly giveUpMs?: number;
  /** The maximum number of tries. @default any number */
  readonly triesMax?: number;
  /** Whether to try again after an error. @default isTransient */
  readonly isRetryable?: (error: ParleyClientError) => boolean;
  /** Checks a reply. An error that it throws fails the try. */
  readonly checkReply?: (reply: unknown) => void;
  /**
   * When this signal is aborted, the current try is the last one, and the call rejects with the signal's reason.
   * @default the call's signal
   */
  readonly retrySignal?: AbortSignal;
  /** Called with each failure that may be retried. */
  readonly onFailure?: (error: ParleyClientError) => void;
}

interface TransportOptions {
  /** The URL to which paths are appended, without a slash at its end; '' is the page's own origin. */
  readonly root: string;
  readonly token: TokenSource;
  /** @default the global `fetch` */
  readonly fetch?: typeof fetch | undefined;
  readonly retry: RetrySettings;
  /** After a 401, requests a new token once and tries again. @default false */
  readonly renewsToken?: boolean;
  /** Whether a refusal with this content type may contain a problem document. @default only application/problem+json */
  readonly acceptsProblem?: (contentType: string) => boolean;
  /** Called with each JSON reply and the time from the request to the headers, in ms. */
  readonly onReply?: (reply: unknown, roundTripMs: number) => void;
}

const UNAUTHENTICATED = 401;
/** How long a call is retried if the server has never replied. */
const FIRST_CONTACT_MS = 1_500;
/** Browsers limit the requests that outlive their pages to 64 KiB in total. */
const KEEPALIVE_BYTES_MAX = 32 * 1024;

export function createTransport(options: TransportOptions): Transport {
  const { root, token, retry, renewsToken = false, acceptsProblem = isProblemType, onReply } = options;

  // Before the first reply, a failed connection most likely means a wrong address, not an outage.
  let hasReached = false;

  async function send(call: HttpCall, signal: AbortSignal): Promise<Response> {
    const headers = headersOf(call, typeof token === 'string' ? token : await token());
    const body = call.body === undefined ? undefined : JSON.stringify(call.body);
    // `fetch` is called as a plain function, because a browser's fetch may not be called as a method of another object.
    const { fetch = globalThis.fetch } = options;
    return reach(root, () =>
      fetch(`${root}${call.path}${queryOf(call)}`, {
        method: call.method,
        headers,
        credentials: 'omit',
        signal,
        ...(body !== undefined && { body }),
        ...(call.keepalive && { keepalive: isSmall(body) }),
      }),
    );
  }

  async function open(call: HttpCall, signal: AbortSignal): Promise<Response> {
    let response = await send(call, signal);
    hasReached = true;
    if (renewsToken && response.status === UNAUTHENTICATED) response = await send(call, signal);
    if (response.ok) return response;
    throw await reach(root, () => readRefusal(response, acceptsProblem));
  }

  function attempt(call: HttpCall, timeoutMs: number): Promise<unknown> {
    return withTimeout(timeoutMs, call.signal, async (signal) => {
      const sentAt = performance.now();
      const response = await open(call, signal);
      const roundTripMs = performance.now() - sentAt;
      const reply = parseReply(await reach(root, () => response.text()), response.status);
      onReply?.(reply, roundTripMs);
      return reply;
    });
  }

  async function request(call: HttpCall, limits: RequestOptions = {}): Promise<unknown> {
    const { giveUpMs = retry.giveUpMs, triesMax = Number.POSITIVE_INFINITY } = limits;
    const { isRetryable = isTransient, retrySignal = call.signal, checkReply, onFailure } = limits;
    const startedAt = performance.now();
    const giveUpAt = startedAt + giveUpMs;
    const backoff = createBackoff(retry);
    for (let tries = 1; ; tries += 1) {
      try {
        const remainingMs = Math.max(giveUpAt - performance.now(), 1);
        const reply = await attempt(call, Math.min(retry.attemptMs, remainingMs));
        checkReply?.(reply);
        return reply;
      } catch (error) {
        if (!isParleyClientError(error) || !isRetryable(error)) throw error;
        onFailure?.(error);
        const delayMs = backoff.nextDelayMs(error.retryAfterSeconds);
        const lastAt = hasReached ? giveUpAt : Math.min(giveUpAt, startedAt + FIRST_CONTACT_MS);
        if (tries >= triesMax || performance.now() + delayMs >= lastAt) throw error;
        await sleep(delayMs, retrySignal);
      }
    }
  }

  return { retry, open, attempt, request };
}

/**
 * The root for a transport, from a base URL that a user of the SDK gives: http or https, perhaps with a path, and in a browser
 * relative to the page. Throws `invalid_request` for anything else.
 */
export function resolveBaseUrl(baseUrl: string): string {
  const page = globalThis.location?.href;
  const url = URL.canParse(baseUrl, page) ? new URL(baseUrl, page) : undefined;
  const isPlain = url !== undefined && /^https?:$/.test(url.protocol) && url.username + url.password === '';
  // The message does not repeat the value, which may contain a password.
  if (!isPlain)
    throw new ParleyClientError('invalid_request', 'baseUrl must be an http(s) URL without user.');
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** An id as one segment of a path. Throws `not_found` for `.` and `..`, which a URL parser removes from a path. */
export function pathSegment(id: string): string {
  if (id !== '' && id !== '.' && id !== '..' && id.isWellFormed()) return encodeURIComponent(id);
  throw new ParleyClientError('not_found', 'This is not an id.');
}

/** Makes headers. Throws `invalid_request` for a name or value that no header can have. */
export function createHeaders(init: HeadersInit | undefined): Headers {
  try {
    return new Headers(init);
  } catch {
    // The error has no cause, because the cause's message would repeat the value.
    throw new ParleyClientError(
      'invalid_request',
      'A header, the token, the idempotency key or the last event id contains invalid characters.',
    );
  }
}

function headersOf(call: HttpCall, token: string): Headers {
  return createHeaders({
    accept: 'application/json',
    ...(call.body !== undefined && { 'content-type': 'application/json' }),
    ...call.headers,
    authorization: `Bearer ${token}`,
  });
}

function queryOf({ query = {} }: HttpCall): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

function isSmall(body = ''): boolean {
  return new TextEncoder().encode(body).length <= KEEPALIVE_BYTES_MAX;
}

/** A failed connection is an outage: the client cannot know whether the server did the work. */
async function reach<T>(root: string, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    const place = root === '' ? '' : ` at ${root}`;
    throw new ParleyClientError('unavailable', `Parley cannot be reached${place}.`, { cause: error });
  }
}

function parseReply(text: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ParleyClientError('internal', 'The reply is not JSON; check baseUrl.', { status });
  }
}
