import type { IncomingMessage, ServerResponse } from 'node:http';
import { writeHead } from './headers/prepared.ts';
import { problemOf } from './problem.ts';
import { type StreamEnd, type StreamOptions, writeAll } from './stream.ts';

/** Headers of a reply. Each item of a list is sent as a line of its own. */
export type ReplyHeaders = Readonly<Record<string, string | string[]>>;

const LINGER_BYTES = 8 * 1024 * 1024;
const LINGER_MS = 2_000;

/** Writes a JSON reply that caches must not store. Returns the number of bytes in its body. */
export function sendJson(
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: ReplyHeaders = {},
): number {
  const bytes = writeJsonHead(res, status, body, headers);
  res.end(bytes);
  return bytes.length;
}

function writeJsonHead(res: ServerResponse, status: number, body: unknown, headers: ReplyHeaders): Buffer {
  const text = Buffer.from(JSON.stringify(body));
  writeHead(res, status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': text.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  });
  return text;
}

/** Writes a reply without a body that caches must not store. */
export function sendEmpty(res: ServerResponse, status: number, headers: ReplyHeaders = {}): void {
  writeHead(res, status, { 'cache-control': 'no-store', ...headers }).end();
}

/** Writes a text reply with `headers` and its length. */
export function sendText(res: ServerResponse, status: number, body: string, headers: ReplyHeaders): void {
  const bytes = Buffer.from(body);
  writeHead(res, status, { ...headers, 'content-length': bytes.length }).end(bytes);
}

/**
 * Writes a text reply in pieces, each sent as it comes. Unless the source ends regularly, the connection is destroyed, so that
 * no reader takes the reply for complete.
 */
export async function sendPieces(
  res: ServerResponse,
  pieces: AsyncIterator<string, unknown>,
  options: StreamOptions,
  headers: ReplyHeaders,
): Promise<void> {
  writeHead(res, 200, headers).flushHeaders();
  let ended: StreamEnd = 'interrupted';
  try {
    ended = await writeAll(res, pieces, (text) => text, options);
  } finally {
    if (ended === 'end') res.end();
    else res.destroy();
  }
}

/** Replies with problem+json. Closes the connection if the request's body was not read to its end. */
export function sendProblem(res: ServerResponse, error: unknown): void {
  const { status, headers, body } = problemOf(error);
  if (res.req.complete) {
    sendJson(res, status, body, headers);
    return;
  }
  res.write(writeJsonHead(res, status, body, { ...headers, connection: 'close' }));
  discardRest(res.req, () => res.end());
}

/**
 * Reads and discards the rest of a body for at most `LINGER_MS`. Closing a connection with unread bytes resets it, and a caller
 * that is still sending would lose the reply. Beyond `LINGER_BYTES` nothing more is read, but the connection stays open for the
 * rest of that time: the caller's sending is then blocked, so it reads the reply.
 */
function discardRest(req: IncomingMessage, done: () => void): void {
  let remaining = LINGER_BYTES;
  const timer = setTimeout(done, LINGER_MS);
  req.on('data', (chunk: Buffer) => {
    remaining -= chunk.length;
    if (remaining < 0) req.pause();
  });
  for (const event of ['end', 'close', 'error']) req.once(event, done);
  req.once('close', () => clearTimeout(timer));
  req.resume();
}
