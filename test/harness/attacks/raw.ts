import { connect, type Socket } from 'node:net';
import type { Reply } from './call.ts';

const HANG_MS = 60_000;

export interface Exchange {
  readonly port: number;
  /** Written one after another, as fast as the server takes them; a generator may go on for ever. */
  readonly send: Iterable<string | Uint8Array>;
  /** Ends the sending side once all is sent. */
  readonly halfClose?: boolean;
}

/**
 * Sends bytes as they are and returns all that came back until the server closed. Rejects when it does not close:
 * requests that expect a reply carry `Connection: close`.
 */
export async function exchange({ port, send, halfClose = false }: Exchange): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  // The server may cut off what it refuses while it is still being sent.
  socket.on('error', () => undefined);
  let late = false;
  const hang = setTimeout(() => {
    late = true;
    socket.destroy();
  }, HANG_MS);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  void pump(socket, send, closed, halfClose);
  await closed;
  clearTimeout(hang);
  const text = Buffer.concat(chunks).toString('utf8');
  if (late) throw new Error(`the server kept the connection open; it had said:\n${text}`);
  return text;
}

async function pump(
  socket: Socket,
  send: Exchange['send'],
  closed: Promise<void>,
  halfClose: boolean,
): Promise<void> {
  for (const part of send) {
    if (socket.destroyed) return;
    if (!socket.write(part)) {
      await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed]);
    }
  }
  if (halfClose) socket.end();
}

/** The replies in a connection's text, one after another. */
export function repliesIn(text: string): Reply[] {
  const replies: Reply[] = [];
  let rest = text;
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    const [statusLine = '', ...lines] = rest.slice(0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1]);
    if (end < 0 || Number.isNaN(status))
      throw new Error(`not a reply: ${JSON.stringify(rest.slice(0, 200))}`);
    const headers = new Headers(
      lines.map((line): [string, string] => [
        line.slice(0, line.indexOf(':')),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
    );
    const after = Buffer.from(rest.slice(end + 4));
    const length = Number(headers.get('content-length') ?? 0);
    const body = after.subarray(0, length).toString();
    rest = after.subarray(length).toString();
    replies.push({ status, headers, text: body, json: body === '' ? undefined : JSON.parse(body) });
  }
  return replies;
}

/** The only reply in a connection's text. */
export function onlyReply(text: string): Reply {
  const replies = repliesIn(text);
  const [reply] = replies;
  if (reply === undefined || replies.length > 1) {
    throw new Error(`expected one reply, got ${replies.length}: ${JSON.stringify(text.slice(0, 500))}`);
  }
  return reply;
}

/** The head of a request with `Host` and `Connection: close`, blank line included. */
export function head(requestLine: string, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({ host: 'parley', connection: 'close', ...headers });
  return `${requestLine} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

/** One chunk of a chunked body. */
export function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}
