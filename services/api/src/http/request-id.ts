import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** Echoes a well-formed X-Request-Id, or mints one, so that a report can be traced to its log line. */
export function applyRequestId(req: IncomingMessage, res: ServerResponse): void {
  const given = req.headers['x-request-id'];
  res.setHeader('x-request-id', typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID());
}
