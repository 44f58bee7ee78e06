import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isParleyError } from '@parley/shared/domain/errors';
import { sendJson, sendProblem } from '../../http/serve.ts';
import { addressOf } from './flows/attempts.ts';
import { languageOf } from './pages/language.ts';
import { renderPage } from './pages/page.ts';
import type { ConnectView } from './pages/view.ts';
import { decline, start, takeSecret } from './routes/act.ts';
import { complete } from './routes/binding.ts';
import { callback } from './routes/callback.ts';
import { type ConnectDeps, createParts, type Parts } from './routes/parts.ts';
import { showAlias, showConnect } from './routes/show.ts';
import { signedIn, signIn, signOut } from './routes/sign-in.ts';
import type { Answer, Visit } from './routes/visit.ts';
import { waiting } from './routes/waiting.ts';
import { webhook } from './routes/webhook.ts';

export type { ConnectDeps } from './routes/parts.ts';

type Handle = (parts: Parts, visit: Visit) => Promise<Answer>;

interface ConnectRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly handle: Handle;
  /** For programs: errors are problem+json. */
  readonly forPrograms?: true;
  /** Reads only, so that HEAD is a GET without its body. */
  readonly readsOnly?: true;
}

const ROUTES: readonly ConnectRoute[] = [
  { method: 'GET', path: '/auth/connect', handle: showAlias, readsOnly: true },
  { method: 'GET', path: '/auth/connect/:id', handle: showConnect, readsOnly: true },
  { method: 'POST', path: '/auth/connect/:id/sign-in', handle: signIn },
  { method: 'GET', path: '/auth/signed-in', handle: signedIn },
  { method: 'POST', path: '/auth/sign-out', handle: signOut },
  { method: 'POST', path: '/auth/connect/:id/start', handle: start },
  { method: 'POST', path: '/auth/connect/:id/secret', handle: takeSecret },
  { method: 'POST', path: '/auth/connect/:id/decline', handle: decline },
  { method: 'GET', path: '/auth/connect/:id/waiting', handle: waiting },
  { method: 'GET', path: '/auth/callback/:id', handle: callback },
  { method: 'POST', path: '/auth/webhooks/:id', handle: webhook, forPrograms: true },
  { method: 'POST', path: '/auth/complete', handle: complete, forPrograms: true },
];
const MATCHERS = ROUTES.map((route) => ({
  route,
  // Ids as they are: nothing is decoded, so that nothing can hide.
  pattern: new RegExp(`^${route.path.replace(':id', '([A-Za-z0-9._-]{1,128})')}$`),
}));
const NOT_FOUND: Answer = { type: 'page', view: { page: 'not-found' } };
const NONCE_BYTES = 16;

export type ConnectHandler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/** The hosted pages, all of `/auth`: from the link in a chat to a usable credential. Never rejects. */
export function createConnectHandler(deps: ConnectDeps): ConnectHandler {
  const shared = createParts(deps);
  return async (req, res) => {
    const [path = '', search = ''] = splitTarget(req.url ?? '/');
    const found = find(req.method ?? 'GET', path);
    const requestId = String(res.getHeader('x-request-id') ?? randomUUID());
    const parts: Parts = { ...shared, onEvent: (event) => shared.onEvent(event, requestId) };
    const visit: Visit = {
      req,
      browser: parts.cookie.read(req),
      param: found?.param ?? '',
      query: new URLSearchParams(search),
      address: addressOf(req, parts.proxyHops),
      requestId,
    };
    try {
      send(parts, visit, res, found === undefined ? NOT_FOUND : await found.route.handle(parts, visit));
    } catch (error) {
      fail(parts, visit, res, found?.route, error);
    }
  };
}

function fail(
  parts: Parts,
  visit: Visit,
  res: ServerResponse,
  route: ConnectRoute | undefined,
  error: unknown,
): void {
  // Whoever asked is gone, maybe while still sending.
  if (res.closed) return;
  const { requestId } = visit;
  if (!isParleyError(error)) parts.onFault(error, { route: route?.path ?? '', requestId });
  if (res.headersSent) res.destroy();
  else if (route?.forPrograms === true) sendProblem(res, error);
  else send(parts, visit, res, { type: 'page', view: viewOfError(error, requestId) });
}

function find(method: string, path: string): { route: ConnectRoute; param: string } | undefined {
  for (const { route, pattern } of MATCHERS) {
    const match = pattern.exec(path);
    const fits = route.method === method || (method === 'HEAD' && route.readsOnly === true);
    if (match !== null && fits) return { route, param: match[1] ?? '' };
  }
  return undefined;
}

function splitTarget(target: string): readonly [string, string] {
  const mark = target.indexOf('?');
  return mark < 0 ? [target, ''] : [target.slice(0, mark), target.slice(mark + 1)];
}

function viewOfError(error: unknown, requestId: string): ConnectView {
  if (isParleyError(error, 'not_found')) return { page: 'not-found' };
  if (isParleyError(error, 'rate_limited'))
    return { page: 'too-many', retryAfterSeconds: error.retryAfterSeconds ?? 1 };
  return { page: 'unavailable', requestId };
}

function send(parts: Parts, visit: Visit, res: ServerResponse, answer: Answer): void {
  if (answer.type === 'json') {
    sendJson(res, answer.status, answer.body);
    return;
  }
  if (answer.type === 'empty') {
    const retry = answer.status === 503 ? { 'retry-after': '1' } : {};
    res.writeHead(answer.status, { 'cache-control': 'no-store', ...retry }).end();
    return;
  }
  const newId = answer.browserId ?? (visit.browser.isNew ? visit.browser.id : undefined);
  const cookie = newId === undefined ? {} : { 'set-cookie': parts.cookie.header(newId) };
  if (answer.type === 'moved') {
    const headers = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', location: answer.path };
    res.writeHead(303, { ...headers, ...cookie }).end();
    return;
  }
  const rendered = renderPage(answer.view, {
    language: languageOf(visit.req.headers['accept-language']),
    nonce: randomBytes(NONCE_BYTES).toString('base64url'),
    https: parts.https,
  });
  const body = Buffer.from(rendered.html);
  res.writeHead(rendered.status, { ...rendered.headers, 'content-length': body.length, ...cookie }).end(body);
}
