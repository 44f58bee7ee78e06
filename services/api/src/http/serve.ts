import type { IncomingMessage, ServerResponse } from 'node:http';
import { isParleyError, ParleyError } from '@parley/shared/domain/errors';
import type { Authenticate } from './auth.ts';
import { check, readJson } from './input.ts';
import type { CallLimits } from './limits.ts';
import { problemOf } from './problem.ts';
import type { Reply, Route } from './route.ts';
import { type SseOptions, sendEvents } from './sse.ts';

const LINGER_BYTES = 8 * 1024 * 1024;
const LINGER_MS = 2_000;

export interface ServeDeps {
  readonly authenticate: Authenticate;
  readonly limits: CallLimits;
  readonly bodyBytesMax: number;
  readonly sse: SseOptions;
  /** Told once a request is done, for metrics. `route` is the pattern, never the URL. */
  readonly onDone: (done: { route: string; method: string; status: number; durationMs: number }) => void;
  /** Told of what nobody expected. `requestId` is the one the caller was given. */
  readonly onFault: (error: unknown, at: { route: string; requestId: string }) => void;
  readonly onStream: (change: 1 | -1, resumed: boolean) => void;
}

export type Serve = (
  route: Route,
  params: Readonly<Record<string, string>>,
  req: IncomingMessage,
  res: ServerResponse,
) => Promise<void>;

/** The steps of every request, in order: who, may they, is it well formed, do it, tell it. */
export function createServe(deps: ServeDeps): Serve {
  return async (route, params, req, res) => {
    const startedAt = performance.now();
    const life = lifeOf(res, deps.sse.draining);
    try {
      const caller = await deps.authenticate(req);
      if (!route.who.includes(caller.kind)) throw forbidden(route);
      const admitted = deps.limits.call(caller, route.method !== 'GET');
      // What is malformed is refused without asking for leave.
      admitted.catch(() => undefined);
      const body = await bodyOf(deps, route, req);
      const url = new URL(req.url ?? '/', 'http://parley');
      const query = route.query === undefined ? undefined : check(route.query, queryOf(url), 'query');
      const header = (name: string) => headerOf(req, name);
      const handled = route.handle(Object.assign(life, { caller, params, query, body, header, admitted }));
      // A caller beyond its budget hears that, whatever its call would have come to.
      handled.catch(() => undefined);
      await admitted;
      const reply = await handled;
      await send(deps, req, res, reply);
    } catch (error) {
      fail(deps, route, res, error);
    } finally {
      life.end();
      const durationMs = performance.now() - startedAt;
      deps.onDone({ route: route.path, method: route.method, status: res.statusCode, durationMs });
    }
  };
}

/** The signal of one request, made only for handlers that sleep: most never need one. */
function lifeOf(res: ServerResponse, drain: AbortSignal) {
  let controller: AbortController | undefined;
  const abort = () => controller?.abort();
  return {
    get signal(): AbortSignal {
      if (controller !== undefined) return controller.signal;
      controller = new AbortController();
      res.once('close', abort);
      drain.addEventListener('abort', abort);
      if (drain.aborted || res.closed) abort();
      return controller.signal;
    },
    get draining(): boolean {
      return drain.aborted;
    },
    end(): void {
      drain.removeEventListener('abort', abort);
    },
  };
}

async function bodyOf(deps: ServeDeps, route: Route, req: IncomingMessage): Promise<unknown> {
  if (route.body === undefined) return undefined;
  const body = await readJson(req, deps.bodyBytesMax);
  return check(route.body, body === undefined && route.bodyOptional === true ? {} : body, 'body');
}

function queryOf(url: URL): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = {};
  for (const name of new Set(url.searchParams.keys())) {
    const values = url.searchParams.getAll(name);
    Object.defineProperty(query, name, { value: values.length === 1 ? values[0] : values, enumerable: true });
  }
  return query;
}

function headerOf(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

async function send(deps: ServeDeps, req: IncomingMessage, res: ServerResponse, reply: Reply): Promise<void> {
  if (reply.type === 'json') return sendJson(res, reply.status, reply.body, reply.headers);
  if (reply.type === 'empty') {
    res.writeHead(reply.status, { 'cache-control': 'no-store' }).end();
    return;
  }
  const resumed = req.headers['last-event-id'] !== undefined;
  deps.onStream(1, resumed);
  try {
    await sendEvents(res, reply.events, deps.sse, reply.headers);
  } finally {
    deps.onStream(-1, resumed);
  }
}

/** Writes a JSON reply that no cache keeps. */
export function sendJson(
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  res.end(writeJsonHead(res, status, body, headers));
}

function writeJsonHead(
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): Buffer {
  const text = Buffer.from(JSON.stringify(body));
  res.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': text.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  });
  return text;
}

/** Answers with problem+json; a request whose body was not read to its end loses its connection. */
export function sendProblem(res: ServerResponse, error: unknown): void {
  const { status, headers, body } = problemOf(error);
  if (res.req.complete) {
    sendJson(res, status, body, headers);
    return;
  }
  res.write(writeJsonHead(res, status, body, { ...headers, connection: 'close' }));
  readOn(res.req, () => res.end());
}

/**
 * Reads and forgets the rest of a body, for a moment. A connection that is closed with bytes unread is reset, and the
 * reply is lost on a caller that is still sending. One that sends too much is read no further but kept open for the rest of
 * that moment: held back, it gets round to the reply.
 */
function readOn(req: IncomingMessage, done: () => void): void {
  let left = LINGER_BYTES;
  const timer = setTimeout(done, LINGER_MS);
  req.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) req.pause();
  });
  for (const event of ['end', 'close', 'error']) req.once(event, done);
  req.once('close', () => clearTimeout(timer));
  req.resume();
}

function fail(deps: ServeDeps, route: Route, res: ServerResponse, error: unknown): void {
  if (res.closed) return;
  if (!isParleyError(error)) {
    deps.onFault(error, { route: route.path, requestId: String(res.getHeader('x-request-id')) });
  }
  if (res.headersSent) res.destroy();
  else sendProblem(res, error);
}

function forbidden(route: Route): ParleyError {
  const detail =
    route.who[0] === 'user'
      ? "This call needs a user's token; a service key is nobody's user."
      : 'This call needs a service key.';
  return new ParleyError('forbidden', detail);
}
