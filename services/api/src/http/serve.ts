/**
 * Serves one request in a fixed order: proof, budget, body, query, handler, reply. The parts of that order are in the files
 * beside this one.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { isParleyError, ParleyError } from '@parley/core/domain/errors';
import type { Caller } from '@parley/shared/domain/caller';
import { type AdmitBytes, type JsonLimits, readBody } from './body.ts';
import { check } from './check.ts';
import { preparedHeader } from './headers/prepared.ts';
import { NO_DRAIN } from './life/drain.ts';
import { RequestLife } from './life/request-life.ts';
import type { CallLimits } from './limits/call-limits.ts';
import type { Openings } from './limits/openings.ts';
import type { RefusalDelays } from './limits/refusal-delays.ts';
import { STATUS_OF } from './problem.ts';
import { type ProofDeps, type Proven, proveByHead } from './proof/by-head.ts';
import type { PathParams, Reply, RequestHead, Route, RouteCall } from './route.ts';
import { sendEmpty, sendJson, sendPieces, sendProblem, sendText } from './send.ts';
import { type SseOptions, sendEvents } from './sse.ts';
import type { StreamOptions } from './stream.ts';
import { unauthenticated } from './token.ts';

export interface ServeDeps extends JsonLimits, ProofDeps {
  readonly limits: Pick<CallLimits, 'call' | 'opening' | 'sent' | 'body'>;
  /** Delays the reply to callers who are refused repeatedly. By default, every refusal is sent at once. */
  readonly refusalDelays?: RefusalDelays;
  /** Lets readers open event streams one after another. By default, all open at once. */
  readonly openings?: Openings;
  readonly sse: SseOptions;
  /** Called when a request is done, for metrics. `route` is the pattern, never the URL. */
  readonly onDone: (done: { route: string; method: string; status: number; durationMs: number }) => void;
  /** Called for each error that is not a ParleyError. `requestId` is the id that the caller was given. */
  readonly onFault: (error: unknown, at: { route: string; requestId: string }) => void;
  readonly onStream: (change: 1 | -1, resumed: boolean) => void;
}

export type Serve = (
  route: Route,
  params: PathParams,
  req: IncomingMessage,
  res: ServerResponse,
) => Promise<void>;

const ADMITTED = Promise.resolve();

/** Serves a request in this order: proof, budget, body, query, handler, reply. Never rejects. */
export function createServe(deps: ServeDeps): Serve {
  return async (route, params, req, res) => {
    const exchange: HttpExchange = {
      route,
      params,
      req,
      res,
      life: new RequestLife(res, deps.sse.drain),
      at: { head: headOf(req, res) },
      startedAt: performance.now(),
      resumed: undefined,
    };
    // A pod holds this call for each stream. What is needed only before the reply is sent lives in functions of its own, so
    // that it can be freed.
    try {
      await send(deps, exchange, await proveAndReply(deps, exchange));
    } catch (error) {
      await fail(deps, exchange, error);
    } finally {
      finish(deps, exchange);
    }
  };
}

async function proveAndReply(deps: ServeDeps, exchange: HttpExchange): Promise<Reply> {
  const { route, req, res, at } = exchange;
  const openings = route.opensStream === true ? deps.openings : undefined;
  openings?.arrive();
  if (route.proof.by !== 'signature') Object.assign(at, await proveByHead(deps, route, req, at.head));
  const handle = () => replyTo(deps, exchange);
  return openings === undefined ? handle() : openings.run({ res, person: personOf(at.caller) }, handle);
}

function finish({ onDone, onStream }: ServeDeps, exchange: HttpExchange): void {
  const { route, res, life, startedAt, resumed } = exchange;
  life.served();
  if (resumed !== undefined) onStream(-1, resumed);
  const durationMs = performance.now() - startedAt;
  if (route.docs !== undefined)
    onDone({ route: route.path, method: route.method, status: res.statusCode, durationMs });
}

/** Reads the request and handles it. Its variables are freed while the reply is sent. */
async function replyTo(deps: ServeDeps, { route, params, req, at, life }: HttpExchange): Promise<Reply> {
  const admitted = admit(deps, route, params, at.caller);
  // A malformed request is refused without waiting for its budget.
  let refusal: { readonly error: unknown } | undefined;
  admitted.catch((error: unknown) => {
    refusal = { error };
  });
  const body =
    route.proof.by === 'signature'
      ? await proveByBody(deps, { route, params, req, at })
      : await readBody(req, route.body, deps, bodyBudget(deps, route, at.caller));
  const query = route.query === undefined ? undefined : check(route.query, readQuery(req), 'query');
  const { head, caller, expiresAtMs, clientId } = at;
  const call: RouteCall<unknown, unknown, unknown> = {
    caller,
    params,
    query,
    body,
    head,
    header: (name) => headerOf(req, name),
    expiresAtMs,
    clientId,
    admitted,
    get signal() {
      return life.signal;
    },
    get draining() {
      return life.draining;
    },
    whenOver: (listener) => life.whenOver(listener),
  };
  // A refusal that is known at this point, such as this pod's own, costs nothing more.
  if (refusal !== undefined) throw refusal.error;
  const handled = route.handle(call as RouteCall);
  // A caller over its budget gets that error even if its call is also invalid.
  handled.catch(() => undefined);
  await admitted;
  return handled;
}

/** The known facts about a request. */
interface RequestFacts extends Proven {
  readonly head: RequestHead;
}

/** A request that is being served. */
interface HttpExchange {
  readonly route: Route;
  readonly params: PathParams;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly life: RequestLife;
  readonly at: RequestFacts;
  /** When the request began, on `performance.now()`. */
  readonly startedAt: number;
  /** For a reply with events: true if its reader has read the stream before. */
  resumed: boolean | undefined;
}

/**
 * Authenticates the caller by the signature over the body. Returns the body. Throws `not_found`, `too_large` and
 * `unauthenticated`.
 */
async function proveByBody(
  deps: ServeDeps,
  { route, params, req, at }: Pick<HttpExchange, 'route' | 'params' | 'req' | 'at'>,
): Promise<unknown> {
  const { proof, body: reader } = route;
  const verify = proof.by === 'signature' ? await proof.verifierOf(params) : undefined;
  if (verify === undefined) throw new ParleyError('not_found', 'Nobody signs calls to this address.');
  const body = await readBody(req, reader, deps);
  if (!Buffer.isBuffer(body)) throw unauthenticated();
  at.caller = await verify(body, at.head);
  return body;
}

function admit({ limits }: ServeDeps, route: Route, params: PathParams, caller: unknown): Promise<void> {
  if (!hasBudget(route) || route.limits === 'own') return ADMITTED;
  if (route.opensStream === true) return limits.opening(caller as Caller);
  const answers = route.answers === undefined ? undefined : params[route.answers];
  return limits.call(caller as Caller, route.method !== 'GET', answers);
}

/** True if the route's callers are identified, so that each has a budget. */
function hasBudget({ proof }: Route): boolean {
  return proof.by === 'bearer' || proof.by === 'operator';
}

/** Counts the bytes of a body; undefined for callers without a budget. */
function bodyBudget({ limits }: ServeDeps, route: Route, caller: unknown): AdmitBytes | undefined {
  return hasBudget(route) ? (bytes) => limits.body(caller as Caller, bytes) : undefined;
}

function headOf(req: IncomingMessage, res: ServerResponse): RequestHead {
  return {
    url: req.url ?? '/',
    headers: req.headers,
    remoteAddress: req.socket.remoteAddress ?? '',
    requestId: preparedHeader(res, 'x-request-id') ?? '',
  };
}

function readQuery(req: IncomingMessage): Record<string, string | string[]> {
  const { searchParams } = new URL(req.url ?? '/', 'http://parley');
  const query: Record<string, string | string[]> = {};
  for (const name of new Set(searchParams.keys())) {
    const values = searchParams.getAll(name);
    Object.defineProperty(query, name, { value: values.length === 1 ? values[0] : values, enumerable: true });
  }
  return query;
}

function headerOf(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** Sends a reply. Returns a promise of its end if sending takes time. */
function send(deps: ServeDeps, exchange: HttpExchange, reply: Reply): Promise<void> | undefined {
  const { req, res, at } = exchange;
  const { caller, expiresAtMs } = at;
  const sent = counterOf(deps, caller);
  switch (reply.type) {
    case 'json': {
      const bytes = sendJson(res, reply.status, reply.body, reply.headers);
      // A caller that is now over its budget is refused at the next call.
      sent?.(bytes).catch(() => undefined);
      return;
    }
    case 'empty':
      return void sendEmpty(res, reply.status, reply.headers);
    case 'text':
      return void sendText(res, reply.status, reply.body, reply.headers);
    case 'pieces':
      return sendPieces(
        res,
        reply.pieces,
        {
          ...deps.sse,
          ...(reply.endsItself === true ? { drain: NO_DRAIN } : { expiresAtMs }),
          ...(reply.isCounted === true && { sent }),
        },
        reply.headers,
      );
    case 'events': {
      const sending = sendEvents(res, reply, { ...deps.sse, expiresAtMs, sent });
      exchange.resumed = req.headers['last-event-id'] !== undefined;
      deps.onStream(1, exchange.resumed);
      return sending;
    }
  }
}

/** Counts the bytes of a reply against the caller's budget, if the caller has one. */
function counterOf({ limits }: ServeDeps, caller: unknown): StreamOptions['sent'] {
  return isCaller(caller) ? (bytes) => limits.sent(caller, bytes) : undefined;
}

/** True for a caller with a bearer token or an operator's session. Other proofs have callers of other types. */
function isCaller(caller: unknown): caller is Caller {
  return (
    typeof caller === 'object' &&
    caller !== null &&
    'kind' in caller &&
    (caller.kind === 'user' || caller.kind === 'service')
  );
}

/** The name under which a person's openings are counted. */
function personOf(caller: unknown): string | undefined {
  if (!isCaller(caller)) return undefined;
  if (caller.kind === 'user') return `${caller.tenant} ${caller.userId}`;
  return caller.operator === undefined ? undefined : `${caller.tenant} ${caller.keyId}`;
}

async function fail(deps: ServeDeps, exchange: HttpExchange, error: unknown): Promise<void> {
  const { route, res, at, life } = exchange;
  if (res.closed) return;
  const place = { route: route.path, requestId: at.head.requestId };
  if (!isParleyError(error)) deps.onFault(error, place);
  if (res.headersSent) return void res.destroy();
  if (isParleyError(error) && STATUS_OF[error.code] === 429 && isCaller(at.caller)) {
    await deps.refusalDelays?.wait(at.caller, life.signal);
    if (res.closed) return;
  }
  try {
    const reply = route.refuse?.(error, at);
    if (reply !== undefined) return await send(deps, exchange, reply);
  } catch (fault) {
    deps.onFault(fault, place);
    if (res.headersSent) return void res.destroy();
  }
  sendProblem(res, error);
}
