import type { ServerResponse } from 'node:http';
import express from 'express';
import { noSuchCall } from './problem.ts';
import type { Route } from './route.ts';
import { sendJson, sendProblem } from './send.ts';
import type { Serve } from './serve.ts';

/** Serves routes with Express, which decodes parameters, allows a trailing slash, and replies 404 and 405. */
export function createExpressRoutes(routes: readonly Route[], serve: Serve): express.Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.set('case sensitive routing', true);

  for (const route of routes) {
    const handle = (req: express.Request, res: express.Response) => {
      // Express would answer HEAD by running GET, and an event stream without a body would never end.
      if (req.method !== route.method && route.readsOnly !== true)
        return sendMethodNotAllowed(res, methodsOf(routes, route.path));
      return serve(route, req.params as Record<string, string>, req, res);
    };
    if (route.method === 'GET') app.get(route.path, handle);
    else if (route.method === 'POST') app.post(route.path, handle);
    else if (route.method === 'PATCH') app.patch(route.path, handle);
    else app.delete(route.path, handle);
  }
  const callable = routes.filter(({ readsOnly }) => readsOnly !== true);
  for (const path of new Set(callable.map((route) => route.path))) {
    app.all(path, (_req, res) => sendMethodNotAllowed(res, methodsOf(callable, path)));
  }
  app.use((_req, res) => sendProblem(res, noSuchCall()));
  app.use((error: unknown, _req: express.Request, res: express.Response, _next: express.NextFunction) => {
    // Express throws a URIError for a path that it cannot decode.
    sendProblem(res, error instanceof URIError ? noSuchCall() : error);
  });
  return app;
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
