/** Finds the route of a request, before Express where possible. What happens to the request then is in `serve.ts`. */

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { REFERENCE_ID } from '@parley/core/domain/ids';
import { createCors } from './cors.ts';
import { prepareHeaders } from './headers/prepared.ts';
import { noSuchCall } from './problem.ts';
import { ANYBODY, type Route, route, type Surface } from './route.ts';
import { createRouteTable, type RouteTable } from './route-table.ts';
import { sendProblem } from './send.ts';
import type { Serve } from './serve.ts';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
/** A parameter below an enclosed path: an id that needs no encoding, so that nothing can be hidden in it. */

interface RouterDeps {
  readonly surfaces: readonly Surface[];
  readonly serve: Serve;
  /** Origins of pages that may call with a bearer token from a browser. */
  readonly corsOrigins: readonly string[];
}

/** Handles every request of the pod. */
export type Router = (req: IncomingMessage, res: ServerResponse) => void;

/** Everything below one path: its routes, and the route for all other calls. */
interface Enclosure {
  readonly pattern: RegExp;
  readonly table: RouteTable;
  readonly missing: Route;
}

/**
 * Makes the only router of all surfaces. Plain paths are looked up in a table before Express, which alone would cost more than
 * answering an elicitation. Express serves the rest: percent-encoded parameters, trailing slashes, and the replies 404 and 405.
 * It is loaded for the first such request. Routes that pages of other origins may not call are only in a table, so that each
 * has exactly one path.
 */
export function createRouter({ surfaces, serve, corsOrigins }: RouterDeps): Router {
  const enclosures = surfaces.flatMap(enclosuresOf);
  const routes = surfaces.flatMap((surface) => (surface.below === undefined ? surface.routes : []));
  const table = createRouteTable(routes);
  const hasClosed = routes.some(isClosed);
  const isClosedPath = (path: string) => hasClosed && table.at(path).some(isClosed);
  const open = routes.filter((one) => !isClosed(one));
  let express: Promise<(req: IncomingMessage, res: ServerResponse) => void> | undefined;
  const fallback = () => {
    express ??= import('./express-routes.ts').then(({ createExpressRoutes }) =>
      createExpressRoutes(open, serve),
    );
    return express;
  };
  const applyCors = createCors(corsOrigins, surfaces);

  return (req, res) => {
    applyRequestId(req, res);
    const sent = req.url ?? '/';
    const enclosure = enclosures.find(({ pattern }) => pattern.test(sent));
    if (enclosure !== undefined) {
      const match = find(enclosure.table, req.method, pathOf(sent));
      const isThere = match !== undefined && Object.values(match.params).every((id) => REFERENCE_ID.test(id));
      void serve(isThere ? match.route : enclosure.missing, isThere ? match.params : {}, req, res);
      return;
    }
    const url = originForm(sent);
    const path = url === undefined ? '' : pathOf(url);
    if (!isClosedPath(path) && applyCors(req, res)) return;
    if (url === undefined) return sendProblem(res, noSuchCall());
    req.url = url;
    const match = find(table, req.method, path);
    if (match !== undefined) void serve(match.route, match.params, req, res);
    else
      fallback().then(
        (serveRest) => serveRest(req, res),
        (error: unknown) => sendProblem(res, error),
      );
  };
}

function isClosed({ cors, proof }: Route): boolean {
  return cors === 'never' || proof.by === 'session';
}

function enclosuresOf({ routes, below }: Surface): Enclosure[] {
  if (below === undefined) return [];
  const { path, missing } = below;
  return [
    {
      pattern: new RegExp(`^${path}(?:[/?]|$)`),
      table: createRouteTable(routes.map((one) => ({ ...one, rawParams: true }))),
      missing: route({ method: 'GET', path, proof: ANYBODY, handle: async ({ head }) => missing(head) }),
    },
  ];
}

function find(table: RouteTable, method = 'GET', path: string) {
  const match = table.find(method === 'HEAD' ? 'GET' : method, path);
  return method === 'HEAD' && match?.route.readsOnly !== true ? undefined : match;
}

function pathOf(url: string): string {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}

/** The path of a request target, which may be a complete URL, as for a proxy (RFC 9112, 3.2.2). Undefined if there is none. */
function originForm(target: string): string | undefined {
  if (target.startsWith('/')) return target;
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '');
  return path.startsWith('/') ? path : undefined;
}

/** Echoes a valid X-Request-Id or creates one, so that a report can be matched with its log line. */
function applyRequestId(req: IncomingMessage, res: ServerResponse): void {
  const given = req.headers['x-request-id'];
  const id = typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
  prepareHeaders(res, { 'x-request-id': id });
}
