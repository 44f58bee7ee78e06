import type { IncomingMessage, ServerResponse } from 'node:http';

const METHODS = 'GET, POST, DELETE';
const REQUEST_HEADERS =
  'authorization, content-type, idempotency-key, last-event-id, x-parley-delivery, x-request-id, x-supports-elicitation';
const RESPONSE_HEADERS = 'idempotent-replayed, retry-after, x-conversation-id, x-request-id';

/**
 * Lets pages of the listed origins call, with bearer tokens and without cookies. Returns true when the request was
 * a preflight and is answered.
 */
export function applyCors(req: IncomingMessage, res: ServerResponse, origins: ReadonlySet<string>): boolean {
  const origin = req.headers.origin;
  if (origin !== undefined && origins.size > 0) res.setHeader('vary', 'origin');
  const allowed = origin !== undefined && origins.has(origin);
  if (allowed) {
    res.setHeader('access-control-allow-origin', origin);
    res.setHeader('access-control-expose-headers', RESPONSE_HEADERS);
  }
  if (req.method !== 'OPTIONS') return false;
  if (allowed) {
    res.setHeader('access-control-allow-methods', METHODS);
    res.setHeader('access-control-allow-headers', REQUEST_HEADERS);
    res.setHeader('access-control-max-age', '600');
  }
  res.writeHead(204).end();
  return true;
}
