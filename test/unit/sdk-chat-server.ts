import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import type { UIMessageChunk } from 'ai';
import { listenOnFreePort } from '../harness/free-port.ts';

/** A request as the scripted server got it. */
export interface ChatCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** What the server does with a request. */
export type Move = (res: ServerResponse, call: ChatCall) => void;

/** Stands in for a pod: each request gets the next move of a script. */
export interface ChatServer {
  readonly url: string;
  readonly calls: readonly ChatCall[];
  /** The script from now on. */
  will(...moves: Move[]): void;
  /** What every request gets once the script is at its end. */
  always(move: Move): void;
  stop(): Promise<void>;
}

export async function startChatServer(): Promise<ChatServer> {
  let moves: Move[] = [];
  let otherwise: Move = (res) => res.writeHead(500).end('No move is left.');
  const calls: ChatCall[] = [];
  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = req;
    const call = { method, path, headers, body: method === 'POST' ? await json(req) : undefined };
    calls.push(call);
    (moves.shift() ?? otherwise)(res, call);
  }
  const server = createServer((req, res) => {
    answer(req, res).catch(() => res.destroy());
  });
  const port = await listenOnFreePort(server);
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    will(...next) {
      moves = next;
    },
    always(move) {
      otherwise = move;
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** An event of a feed as the server sends it. */
export interface Line {
  readonly id?: string;
  readonly data: UIMessageChunk | '[DONE]';
}

export function textOfLines(lines: readonly Line[]): string {
  return lines
    .map(({ id, data }) => {
      const text = data === '[DONE]' ? data : JSON.stringify(data);
      return `${id === undefined ? '' : `id: ${id}\n`}data: ${text}\n\n`;
    })
    .join('');
}

const STREAM = { 'content-type': 'text/event-stream' };

/** Sends a text as a stream; then ends it, cuts the connection, or keeps it open. */
export function stream(text: string | Uint8Array, then: 'end' | 'cut' | 'open' = 'end'): Move {
  return (res) => {
    res.writeHead(200, STREAM);
    // Headers of a stream that is cut at once are to arrive all the same.
    res.write(': \n\n');
    res.write(text, () => {
      if (then === 'end') res.end();
      else if (then === 'cut') res.destroy();
    });
  };
}

/** Takes the request, and the connection is gone before its reply. */
export const loseReply: Move = (res) => res.destroy();

export const nothingRuns: Move = (res) => res.writeHead(204).end();

/** Refuses as Parley does. */
export function refuse(status: number, code: string, retryAfter?: string): Move {
  return (res) => {
    const more = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
    res.writeHead(status, { 'content-type': 'application/problem+json', ...more });
    res.end(JSON.stringify({ status, code, detail: `Refused with ${code}.` }));
  };
}

export function reply(value: unknown): Move {
  return (res) => {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify(value));
  };
}
