import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import type { UIMessageChunk } from 'ai';
import { listenOnFreePort } from '../free-port.ts';

/** A request that the scripted server received. */
export interface ChatCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** What the server does with a request. */
export type Move = (res: ServerResponse, call: ChatCall) => void;

/** A scripted pod: each request gets the next move of the script. */
export interface ChatServer {
  readonly url: string;
  readonly calls: readonly ChatCall[];
  /** Sets the script. */
  will(...moves: Move[]): void;
  /** Sets the move for every request after the end of the script. */
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
    // The headers must arrive even if the stream is cut at once.
    res.write(': \n\n');
    res.write(text, () => {
      if (then === 'end') res.end();
      else if (then === 'cut') res.destroy();
    });
  };
}

/** Drops the connection before the reply. */
export const loseReply: Move = (res) => res.destroy();

export const nothingRuns: Move = (res) => res.writeHead(204).end();

/** Refuses like Parley, with a problem document. */
export function refuse(status: number, code: string, retryAfter?: string): Move {
  return (res) => {
    const more = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
    res.writeHead(status, { 'content-type': 'application/problem+json', ...more });
    res.end(JSON.stringify({ status, code, detail: `Refused with ${code}.` }));
  };
}

/** What happens to the reply of a message whose turn has begun. */
export type ReplyFate = 'whole' | 'lost';

/** The turns of a server that stores its messages. */
export interface KeptTurns {
  /** How many turns were begun. */
  readonly begun: number;
  /** Another tab's turn is running, so no turn can begin. */
  isBusy: boolean;
  /**
   * Handles a message like the server: the same key leads to the same turn, replayed from its first event, even after its
   * end; another body with the same key is refused.
   */
  take(fate: ReplyFate): Move;
}

const KEY = /^[\x21-\x7e]{1,255}$/;

/** Stores turns by idempotency key. `linesOf` returns the events of a turn by its number. */
export function keepTurns(linesOf: (turn: number) => readonly Line[]): KeptTurns {
  const kept = new Map<string, { readonly body: string; readonly turn: number }>();

  function refusalOf(key: string, body: string): Move | undefined {
    const known = kept.get(key);
    if (!KEY.test(key)) return refuse(400, 'invalid_request');
    if (known === undefined) return turns.isBusy ? refuse(409, 'turn_running') : undefined;
    return known.body === body ? undefined : refuse(409, 'idempotency_mismatch');
  }

  const turns: KeptTurns = {
    get begun() {
      return kept.size;
    },
    isBusy: false,
    take: (fate) => (res, call) => {
      const key = String(call.headers['idempotency-key'] ?? '');
      const body = JSON.stringify(call.body);
      const refused = refusalOf(key, body);
      if (refused !== undefined) return refused(res, call);
      if (kept.has(key)) res.setHeader('idempotent-replayed', 'true');
      const { turn } = kept.get(key) ?? { turn: kept.size + 1 };
      kept.set(key, { body, turn });
      if (fate === 'lost') return loseReply(res, call);
      stream(textOfLines(linesOf(turn)))(res, call);
    },
  };
  return turns;
}

export function reply(value: unknown): Move {
  return (res) => {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify(value));
  };
}
