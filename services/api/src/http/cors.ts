import type { IncomingMessage, ServerResponse } from 'node:http';
import { prepareHeaders, writeHead } from './headers/prepared.ts';
import type { Surface } from './route.ts';

// Every method that a route can have.
const METHODS = 'GET, POST, PATCH, DELETE';
// Headers that the router and the authentication use. Surfaces declare their own.
const REQUEST_HEADERS = ['authorization', 'content-type', 'x-request-id'];
const RESPONSE_HEADERS = ['retry-after', 'x-request-id'];

/** Answers the cross-origin part of a request. Returns true when it was a preflight, which is then answered. */
type Cors = (req: IncomingMessage, res: ServerResponse) => boolean;

/** Lets pages of the listed origins call the surfaces with bearer tokens, without cookies. */
export function createCors(corsOrigins: readonly string[], surfaces: readonly Surface[]): Cors {
  const origins = new Set(corsOrigins);
  const declared = surfaces.map(({ browserHeaders }) => browserHeaders ?? {});
  const requestHeaders = headerList(REQUEST_HEADERS, ...declared.map(({ request = [] }) => request));
  const responseHeaders = headerList(RESPONSE_HEADERS, ...declared.map(({ response = [] }) => response));
  return (req, res) => {
    const origin = req.headers.origin;
    if (origin !== undefined && origins.size > 0) prepareHeaders(res, { vary: 'origin' });
    const allowed = origin !== undefined && (origins.has(origin) || origins.has(withAnyPort(origin)));
    if (allowed) {
      prepareHeaders(res, {
        'access-control-allow-origin': origin,
        'access-control-expose-headers': responseHeaders,
      });
    }
    if (req.method !== 'OPTIONS') return false;
    if (allowed) {
      prepareHeaders(res, {
        'access-control-allow-methods': METHODS,
        'access-control-allow-headers': requestHeaders,
        'access-control-max-age': '600',
      });
    }
    writeHead(res, 204).end();
    return true;
  };
}

/** The entry that allows an origin with any port. Only origins of this machine can be such entries (`config/env.ts`). */
function withAnyPort(origin: string): string {
  return `${origin.replace(/:\d{1,5}$/, '')}:*`;
}

/** All names, sorted and without duplicates. */
function headerList(...lists: readonly (readonly string[])[]): string {
  return [...new Set(lists.flat())].sort().join(', ');
}
