import { isRecord } from '@parley/shared/domain/plain-record';
import { type Elicitation, isElicitation } from '../elicitation.ts';
import { type FieldError, Refusal } from './refusal.ts';

/** How long one try may go without its reply, in ms; of a stream, without the head. */
const TRY_MS = 15_000;

export interface CallsDeps {
  readonly baseUrl: string;
  readonly getToken: () => string | Promise<string>;
  readonly fetch: typeof fetch;
  /** Told of each elicitation that came in a reply, with the reply's round trip in ms. */
  readonly onTime: (serverTime: string | undefined, roundTripMs: number) => void;
}

export interface Call {
  readonly path: string;
  /** JSON text; makes it a POST. */
  readonly body?: string;
  /** Lets the request outlive the page, as far as browsers take that: they refuse large ones. */
  readonly keepalive?: boolean;
}

/** Single requests, tried once, with a user's token. All reject with Refusal. */
export interface Calls {
  /** Resolves when the head of a 2xx reply is in; `signal` cuts its body, too. */
  open(call: Call, signal: AbortSignal, accept?: string): Promise<Response>;
  elicitation(call: Call, signal: AbortSignal): Promise<Elicitation>;
  json(call: Call, signal: AbortSignal): Promise<unknown>;
}

export function createCalls(deps: CallsDeps): Calls {
  const root = deps.baseUrl.replace(/\/+$/, '');

  async function tryOnce(call: Call, signal: AbortSignal, accept: string): Promise<Response> {
    const token = await tokenOf(deps);
    return reached(() =>
      deps.fetch(root + call.path, {
        headers: {
          accept,
          authorization: `Bearer ${token}`,
          ...(call.body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(call.body !== undefined && { method: 'POST', body: call.body }),
        ...(call.keepalive && { keepalive: true }),
        cache: 'no-store',
        credentials: 'omit',
        signal,
      }),
    );
  }

  async function open(call: Call, signal: AbortSignal, accept = 'application/json'): Promise<Response> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), TRY_MS);
    const either = AbortSignal.any([signal, late.signal]);
    try {
      let response = await tryOnce(call, either, accept);
      // The token may have run out since the page got it.
      if (response.status === 401) response = await tryOnce(call, either, accept);
      if (!response.ok) throw await refusalOf(response);
      return response;
    } finally {
      clearTimeout(timer);
    }
  }

  async function json(call: Call, signal: AbortSignal): Promise<unknown> {
    const sentAt = performance.now();
    const response = await open(call, AbortSignal.any([signal, AbortSignal.timeout(TRY_MS)]));
    const roundTripMs = performance.now() - sentAt;
    const reply: unknown = await reached(() => response.json());
    if (isRecord(reply) && typeof reply.serverTime === 'string') deps.onTime(reply.serverTime, roundTripMs);
    return reply;
  }

  return {
    open,
    json,
    async elicitation(call, signal) {
      const reply = await json(call, signal);
      if (isElicitation(reply)) {
        // What was answered is nothing that a page needs again.
        const { content: _content, ...shown } = reply;
        return shown;
      }
      throw new Refusal({ status: 0, code: 'offline', cause: new Error('The reply is not one of Parley') });
    },
  };
}

/** What the reply of a proxy or a sign-in page looks like is no verdict of Parley's: no reply came. */
async function reached<T>(use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (cause) {
    throw new Refusal({ status: 0, code: 'offline', cause });
  }
}

async function tokenOf({ getToken }: CallsDeps): Promise<string> {
  try {
    return await getToken();
  } catch (cause) {
    throw new Refusal({ status: 0, code: 'unauthenticated', cause });
  }
}

const CODE_OF: Readonly<Record<number, string>> = {
  401: 'unauthenticated',
  403: 'forbidden',
  413: 'too_large',
  429: 'rate_limited',
};

async function refusalOf(response: Response): Promise<Refusal> {
  const { status } = response;
  const reply: unknown = await response.json().catch(() => undefined);
  const problem = isRecord(reply) ? reply : {};
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new Refusal({
    status,
    // A 404 counts only in Parley's own words: a proxy's says nothing of the question.
    code: typeof problem.code === 'string' ? problem.code : (CODE_OF[status] ?? 'unavailable'),
    errors: Array.isArray(problem.errors) ? problem.errors.filter(isFieldError) : [],
    elicitation: isElicitation(problem.elicitation) ? problem.elicitation : undefined,
    retryAfterSeconds: Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined,
  });
}

function isFieldError(value: unknown): value is FieldError {
  return isRecord(value) && typeof value.path === 'string' && typeof value.message === 'string';
}
