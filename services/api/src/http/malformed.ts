/** Replies to requests that are not valid HTTP, which Node would otherwise answer itself. Valid requests go to the router. */

import {
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { type ErrorCode, ParleyError } from '@parley/core/domain/errors';
import { problemOf } from './problem.ts';
import { sendJson } from './send.ts';

interface MalformedRefusal {
  readonly status: number;
  readonly code: ErrorCode;
  readonly detail: string;
}

const MALFORMED: MalformedRefusal = {
  status: 400,
  code: 'invalid_request',
  detail: 'This is not a well formed HTTP/1.1 request.',
};
const HOSTLESS: MalformedRefusal = { ...MALFORMED, detail: 'Name the host in a Host header.' };
const TWO_HOSTS: MalformedRefusal = { ...MALFORMED, detail: 'Send one Host header.' };
const UNMET: MalformedRefusal = {
  status: 417,
  code: 'invalid_request',
  detail: 'Send no Expect header but 100-continue.',
};
/** The refusals, by the code of Node's error. */
const REFUSALS: ReadonlyMap<string | undefined, MalformedRefusal> = new Map([
  [
    'ERR_HTTP_REQUEST_TIMEOUT',
    {
      status: 408,
      code: 'invalid_request',
      detail: 'The request did not arrive in time; send it again in one go.',
    },
  ],
  [
    'HPE_HEADER_OVERFLOW',
    { status: 431, code: 'too_large', detail: 'The headers are too large; send fewer or shorter ones.' },
  ],
  [
    'HPE_CHUNK_EXTENSIONS_OVERFLOW',
    { status: 413, code: 'too_large', detail: 'The chunk extensions are too large; send none.' },
  ],
]);

/**
 * Passes requests to `handler`. Answers requests that RFC 9112 does not allow with problem+json, like all other errors. The
 * server must leave the check of the Host header to this function.
 */
export function serveWellFormed(server: Server, handler: RequestListener): void {
  const replies = new WeakMap<Duplex, ServerResponse>();
  server.on('request', (req, res) => {
    replies.set(req.socket, res);
    const hosts = countHosts(req);
    // With two Host headers, a proxy and Parley could each serve a different host (RFC 9112, section 3.2).
    if (hosts > 1) refuse(res, TWO_HOSTS);
    else if (hosts === 0 && req.httpVersion === '1.1') refuse(res, HOSTLESS);
    else handler(req, res);
  });
  server.on('checkExpectation', (_req, res) => refuse(res, UNMET));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // The refusal must not look like the reply to an earlier request that is still being answered.
    if (!socket.writable || isAnswering(replies.get(socket))) return void socket.destroy();
    socket.end(textOf(REFUSALS.get(error.code) ?? MALFORMED), () => socket.destroy());
  });
}

function countHosts({ rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

function refuse(res: ServerResponse, refusal: MalformedRefusal): void {
  const { status, body, headers } = problemFor(refusal);
  sendJson(res, status, body, { ...headers, connection: 'close' });
}

function isAnswering(reply: ServerResponse | undefined): boolean {
  return reply !== undefined && !reply.writableFinished && (reply.headersSent || reply.req.complete);
}

function problemFor({ status, code, detail }: MalformedRefusal) {
  const { headers, body } = problemOf(new ParleyError(code, detail));
  return { status, headers, body: { ...body, title: STATUS_CODES[status], status } };
}

function textOf(refusal: MalformedRefusal): string {
  const { status, headers, body } = problemFor(refusal);
  const text = JSON.stringify(body);
  const lines = Object.entries({
    ...headers,
    'content-length': String(Buffer.byteLength(text)),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`;
}
