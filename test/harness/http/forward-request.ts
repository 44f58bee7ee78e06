import { Agent, type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { Pod } from './target-pool.ts';

export type Forwarder = {
  handle(incoming: IncomingMessage, outgoing: ServerResponse): void;
  close(): void;
};

export type ForwarderDeps = {
  candidates: () => Pod[];
  onAnswer: (pod: Pod) => void;
  /** Added to every request, for clients that cannot send them. */
  headers?: Readonly<Record<string, string>> | undefined;
};

/** About one connection only, so not to be passed on. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'proxy-connection', 'te', 'upgrade', 'expect']);

/** Passes requests on to the first candidate that can be reached. */
export function createForwarder({ candidates, onAnswer, headers = {} }: ForwarderDeps): Forwarder {
  const added = Object.entries(headers).flat();
  // Idle connections go before a pod would end them, so that no request is written into a closing one.
  const agent = new Agent({ keepAlive: true, timeout: 1_000 });

  const tryNext = (incoming: IncomingMessage, outgoing: ServerResponse, pods: Pod[]) => {
    const [pod, ...rest] = pods;
    if (!pod) {
      refuse(outgoing, 503, 'no pod can be reached');
      return;
    }
    const upstream = request({
      agent,
      host: pod.url.hostname,
      port: pod.url.port,
      method: incoming.method ?? 'GET',
      path: incoming.url ?? '/',
      headers: [...passedOn(incoming.rawHeaders), ...added],
    });
    // The body stays unread until there is a connection: a request that never left can go to the next pod whole.
    let connected = false;
    onConnection(upstream, () => {
      connected = true;
      incoming.pipe(upstream);
    });
    upstream.on('response', (answer) => {
      onAnswer(pod);
      pipeAnswer(answer, outgoing, pod);
    });
    upstream.on('error', () => {
      if (outgoing.headersSent || outgoing.destroyed) return;
      if (connected) refuse(outgoing, 502, `pod ${pod.name} broke off`);
      else tryNext(incoming, outgoing, rest);
    });
    outgoing.on('close', () => {
      if (!outgoing.writableFinished) upstream.destroy();
    });
  };
  return {
    handle: (incoming, outgoing) => tryNext(incoming, outgoing, candidates()),
    close: () => agent.destroy(),
  };
}

function onConnection(upstream: ClientRequest, connected: () => void): void {
  upstream.once('socket', (socket) => {
    if (socket.connecting) socket.once('connect', connected);
    else connected();
  });
}

function pipeAnswer(answer: IncomingMessage, outgoing: ServerResponse, pod: Pod): void {
  outgoing.writeHead(answer.statusCode ?? 502, [
    ...passedOn(answer.rawHeaders),
    'x-parley-upstream',
    pod.name,
  ]);
  outgoing.flushHeaders();
  answer.pipe(outgoing);
  answer.on('error', () => outgoing.destroy());
  answer.on('aborted', () => outgoing.destroy());
}

function refuse(outgoing: ServerResponse, status: number, detail: string): void {
  outgoing.writeHead(status, { 'content-type': 'text/plain', 'retry-after': '1' });
  outgoing.end(detail);
}

/** Header names and values in turn, repeated ones included, as they came. */
function passedOn(rawHeaders: string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const [name = '', value = ''] = rawHeaders.slice(i, i + 2);
    if (!HOP_BY_HOP.has(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}
