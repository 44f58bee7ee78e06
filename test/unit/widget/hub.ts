import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Elicitation } from '../../../clients/widget/src/elicitation.ts';

/** Replies to a request, or returns false to leave it to the hub. */
export type Handler = (req: IncomingMessage, res: ServerResponse) => boolean;

/** A small server with the part of `/v1` that the widget uses, for one user. */
export interface Hub {
  readonly baseUrl: string;
  /** All requests, as `GET /v1/…` and the body. */
  readonly log: string[];
  readonly elicitations: Map<string, Elicitation>;
  /** The token it accepts. */
  token: string;
  /** Called first with each request; returns true if it has replied. */
  before: Handler;
  /** How far `serverTime` is ahead of the real time, in ms. */
  aheadMs: number;
  /** Creates or changes an elicitation, and sends it to all streams. */
  put(change: Partial<Elicitation> & { elicitationId: string }): Elicitation;
  /** The same without sending it to the streams. */
  putSilently(change: Partial<Elicitation> & { elicitationId: string }): Elicitation;
  /** Writes raw text into all streams. */
  write(text: string): void;
  streams(): number;
  cutStreams(): void;
  count(start: string): number;
  close(): Promise<void>;
}

export async function startHub(): Promise<Hub> {
  const streams = new Set<ServerResponse>();
  const server = createServer((req, res) => void serve(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const hub: Hub = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/parley/`,
    log: [],
    elicitations: new Map(),
    token: 'one',
    before: () => false,
    aheadMs: 0,
    put(change) {
      const now = hub.putSilently(change);
      const ended = now.status !== 'pending' && now.status !== 'opened';
      sendEvent(ended ? 'elicitation-resolved' : 'elicitation-updated', now);
      return now;
    },
    putSilently(change) {
      const asked: Elicitation = {
        elicitationId: change.elicitationId,
        mode: 'form',
        message: 'Which?',
        status: 'pending',
        createdAt: new Date(1_800_000_000_000 + hub.elicitations.size).toISOString(),
      };
      const now = { ...asked, ...hub.elicitations.get(change.elicitationId), ...change };
      hub.elicitations.set(now.elicitationId, now);
      return now;
    },
    write(text) {
      for (const stream of streams) stream.write(text);
    },
    streams: () => streams.size,
    cutStreams() {
      for (const stream of streams) stream.destroy();
    },
    count: (start) => hub.log.filter((line) => line.startsWith(start)).length,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };

  const stamped = (one: Elicitation) => ({
    ...one,
    serverTime: new Date(Date.now() + hub.aheadMs).toISOString(),
  });
  const open = () =>
    [...hub.elicitations.values()].filter(({ status }) => /pending|opened/.test(status)).map(stamped);

  function sendEvent(name: string, data: Elicitation): void {
    hub.write(`event: ${name}\ndata: ${JSON.stringify(stamped(data))}\n\n`);
  }

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? '/', 'http://hub');
    let body = '';
    for await (const chunk of req.setEncoding('utf8')) body += chunk;
    const path = url.pathname.replace(/^\/parley/, '');
    hub.log.push(`${req.method} ${path}${url.search} ${body}`.trim());
    if (hub.before(req, res)) return;
    if (req.headers.authorization !== `Bearer ${hub.token}`) return problem(res, 401, 'unauthenticated');
    if (path === '/v1/inbox/events') return stream(res);
    if (path === '/v1/elicitations') return json(res, 200, { elicitations: open() });
    const [, id = '', answered] = /^\/v1\/elicitations\/([^/]+)(\/response)?$/.exec(path) ?? [];
    const found = hub.elicitations.get(decodeURIComponent(id));
    if (found === undefined) return problem(res, 404, 'not_found');
    if (answered === undefined) return json(res, 200, stamped(found));
    const { action } = JSON.parse(body);
    const status = ({ accept: 'accepted', decline: 'declined', cancel: 'cancelled' } as const)[
      action as 'accept'
    ];
    if (found.status === status) return json(res, 200, stamped(found));
    if (found.status !== 'pending')
      return problem(res, 409, 'already_settled', { elicitation: stamped(found) });
    json(res, 200, stamped(hub.put({ elicitationId: found.elicitationId, status })));
  }

  function stream(res: ServerResponse): void {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    // Parts of one question each, as the server sends them where questions are large.
    const parts = open().map((elicitation) => [elicitation]);
    if (parts.length === 0) parts.push([]);
    const snapshot = parts.map((elicitations, part) => {
      const data = { elicitations, part, more: part < parts.length - 1 };
      return `event: inbox-snapshot\ndata: ${JSON.stringify(data)}\n\n`;
    });
    res.write(`retry: 1000\n\n${snapshot.join('')}`);
    streams.add(res);
    res.on('close', () => streams.delete(res));
  }

  return hub;
}

export function json(res: ServerResponse, status: number, body: unknown, type = 'application/json'): void {
  res.writeHead(status, { 'content-type': type }).end(JSON.stringify(body));
}

export function problem(res: ServerResponse, status: number, code: string, more: object = {}): void {
  json(res, status, { title: code, status, code, ...more }, 'application/problem+json');
}
