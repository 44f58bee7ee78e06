import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Webhooks } from '@parley/shared/delivery/webhooks';
import { ParleyError } from '@parley/shared/domain/errors';
import { bucketOfElicitationId } from '@parley/shared/domain/ids';
import type { Engine } from '@parley/shared/elicitations/engine';
import express from 'express';
import { applyCors } from '../http/cors.ts';
import { docsPageOf } from '../http/docs/docs-page.ts';
import { openApiOf } from '../http/docs/openapi.ts';
import { type HealthDeps, sendAlive, sendReady } from '../http/health.ts';
import type { CallLimits } from '../http/limits.ts';
import type { AdmitAnswer } from '../http/reply.ts';
import { applyRequestId } from '../http/request-id.ts';
import type { Route } from '../http/route.ts';
import { type Serve, sendJson, sendProblem } from '../http/serve.ts';
import { type TurnRoutesDeps, turnRoutes } from '../surfaces/ai-sdk/routes.ts';
import type { ConnectHandler } from '../surfaces/connect/handler.ts';
import { elicitationRoutes, type HasConnectPage, responseRoute } from '../surfaces/rest/elicitations.ts';
import { streamRoutes } from '../surfaces/rest/streams.ts';
import { webhookRoutes } from '../surfaces/rest/webhooks.ts';
import { chatResponseRoute } from '../turns/answer.ts';
import type { Turns } from '../turns/turns.ts';

export interface AppDeps extends HealthDeps {
  readonly engine: Engine;
  readonly limits: CallLimits;
  readonly serve: Serve;
  /** The webhooks of askers; absent where none are delivered. */
  readonly webhooks?: Webhooks;
  /** The turns of agents; absent where no agents are configured. */
  readonly turns?: Turns;
  /** How text is told in the OpenAI format. */
  readonly openAiSteps: TurnRoutesDeps['openAiSteps'];
  /** Whether there is a hosted page for a tool's id; for none when absent. */
  readonly hasConnectPage?: HasConnectPage;
  /** The hosted pages under /auth; absent where nobody connects anything. */
  readonly connectPages?: ConnectHandler;
  readonly corsOrigins: readonly string[];
  readonly version: string;
}

export type App = (req: IncomingMessage, res: ServerResponse) => void;

const ANSWER_PATH = /^\/v1\/elicitations\/([^/?#]+)\/response(?:\?|$)/;
const CHAT_ANSWER_PATH = /^\/run\/api\/elicitation-responses(?:\?|$)/;
const CONNECT_PATH = /^\/auth(?:[/?]|$)/;
const DOCS_HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};

/** The whole API as one request handler, built without listening. Routes stand in reading order. */
export function createApp(deps: AppDeps): App {
  const { engine, limits, serve } = deps;
  const admitAnswer: AdmitAnswer = async ({ caller, admitted }, elicitationId) => {
    // An id that cannot exist has no budget: its name, however long, must not reach Redis.
    const exists = bucketOfElicitationId(elicitationId) !== undefined;
    await Promise.all([admitted, exists && caller.kind === 'user' && limits.answer(caller, elicitationId)]);
  };
  const answer = responseRoute(engine, admitAnswer);
  const chatAnswer = chatResponseRoute(engine, admitAnswer);
  const routes: readonly Route[] = [
    ...elicitationRoutes(engine, deps.hasConnectPage ?? (() => false)),
    answer,
    ...streamRoutes(engine, limits),
    ...(deps.webhooks === undefined ? [] : webhookRoutes(deps.webhooks)),
    chatAnswer,
    ...(deps.turns === undefined
      ? []
      : turnRoutes({ engine, limits, turns: deps.turns, openAiSteps: deps.openAiSteps, admitAnswer })),
  ];
  const rest = restOf(deps, routes);
  const origins = new Set(deps.corsOrigins);

  return (req, res) => {
    applyRequestId(req, res);
    // Pages for people have cookies: no other origin's script is ever let in.
    if (deps.connectPages !== undefined && CONNECT_PATH.test(req.url ?? '')) {
      void deps.connectPages(req, res);
      return;
    }
    if (applyCors(req, res, origins)) return;
    const url = originForm(req.url ?? '/');
    if (url === undefined) return sendProblem(res, noSuchCall());
    req.url = url;
    // The answer is the hot path: Express alone would cost more than everything else it does.
    const id = req.method === 'POST' ? ANSWER_PATH.exec(url)?.[1] : undefined;
    if (id !== undefined) void serve(answer, { id }, req, res);
    else if (req.method === 'POST' && CHAT_ANSWER_PATH.test(url)) void serve(chatAnswer, {}, req, res);
    else rest(req, res);
  };
}

function restOf(deps: AppDeps, routes: readonly Route[]) {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.set('case sensitive routing', true);

  app.get('/healthz', (_req, res) => sendAlive(res));
  app.get('/readyz', (_req, res) => sendReady(res, deps));
  for (const route of routes) {
    const handle = (req: express.Request, res: express.Response) => {
      // Express would answer HEAD by running a GET, and an event stream without a body would never end.
      if (req.method !== route.method) return sendMethodNotAllowed(res, methodsOf(routes, route.path));
      return deps.serve(route, req.params as Record<string, string>, req, res);
    };
    if (route.method === 'GET') app.get(route.path, handle);
    else if (route.method === 'POST') app.post(route.path, handle);
    else app.delete(route.path, handle);
  }
  const api = openApiOf(routes, deps.version);
  const docs = docsPageOf(api);
  app.get('/openapi.json', (_req, res) => sendJson(res, 200, api));
  app.get('/docs', (_req, res) => void res.set(DOCS_HEADERS).type('html').send(docs));
  for (const path of new Set(routes.map((route) => route.path))) {
    app.all(path, (_req, res) => sendMethodNotAllowed(res, methodsOf(routes, path)));
  }
  app.use((_req, res) => sendProblem(res, noSuchCall()));
  app.use((error: unknown, _req: express.Request, res: express.Response, _next: express.NextFunction) => {
    sendProblem(res, isBadUrl(error) ? noSuchCall() : error);
  });
  return app;
}

/** The path of a request that may name the whole URL, as to a proxy (RFC 9112, 3.2.2); nothing when there is none. */
function originForm(target: string): string | undefined {
  if (target.startsWith('/')) return target;
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '');
  return path.startsWith('/') ? path : undefined;
}

function noSuchCall(): ParleyError {
  return new ParleyError('not_found', 'There is no such call; see /docs.');
}

function methodsOf(routes: readonly Route[], path: string): string {
  return routes
    .filter((route) => route.path === path)
    .map((route) => route.method)
    .join(', ');
}

function sendMethodNotAllowed(res: ServerResponse, allow: string): void {
  sendJson(
    res,
    405,
    {
      type: 'https://parley.dev/problems/invalid_request',
      title: 'Method not allowed',
      status: 405,
      code: 'invalid_request',
      detail: `Use ${allow} here.`,
    },
    { 'content-type': 'application/problem+json', allow },
  );
}

/** Express throws a URIError for a path it cannot decode. */
function isBadUrl(error: unknown): boolean {
  return error instanceof URIError;
}
