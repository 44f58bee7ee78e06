import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram, start } from '../../infra/check/tools.ts';
import { freePort, listenOnFreePort } from '../harness/free-port.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { root } from './planted-tree.ts';

/** A stand-in for an api pod: it notes what reaches it and does what the path asks for. */
export type StandIn = {
  readonly name: string;
  readonly server: Server;
  readonly port: number;
  readonly seen: { readonly method: string; readonly path: string; readonly from: string }[];
  readonly streams: ServerResponse[];
  ready: boolean;
};

export type ProxyRig = {
  readonly url: string;
  readonly pods: readonly StandIn[];
  /** What the proxy has logged so far. */
  readonly log: () => string;
  readonly stop: () => Promise<void>;
};

export const programs = ['haproxy', 'nginx'] as const;

/** Whether the machine has the proxy. */
export function has(program: (typeof programs)[number]): boolean {
  return findProgram(program) !== undefined;
}

/** Starts the shipped configuration before three stand-ins; only addresses and times are made fit for a test. */
export async function startProxy(program: (typeof programs)[number]): Promise<ProxyRig> {
  const directory = mkdtempSync(join(tmpdir(), 'parley-proxy-'));
  const pods = await Promise.all(['api-1', 'api-2', 'api-3'].map(startStandIn));
  const port = await freePort();
  const file = join(directory, 'proxy.cfg');
  writeFileSync(
    file,
    configuration(
      program,
      directory,
      port,
      pods.map((pod) => pod.port),
    ),
  );
  const args = program === 'haproxy' ? ['-db', '-f', file] : ['-c', file, '-g', 'daemon off;'];
  const running = start(findProgram(program) ?? program, args);
  const log = (): string =>
    running.output() + (program === 'nginx' ? readFileSync(join(directory, 'access.log'), 'utf8') : '');
  const stop = async (): Promise<void> => {
    running.child.kill('SIGTERM');
    for (const { server } of pods) server.closeAllConnections();
    await running.finished;
    for (const { server } of pods) server.close();
    rmSync(directory, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  const ended = (): boolean => running.child.exitCode !== null;
  await waitUntil(async () => ended() || (await fetch(`${url}/hello`)).ok, { what: `${program} to serve` });
  if (ended()) throw new Error(`${program} ended at once: ${running.output()}`);
  return { url, pods, log, stop };
}

function configuration(
  program: (typeof programs)[number],
  directory: string,
  port: number,
  pods: readonly number[],
): string {
  const source = program === 'haproxy' ? 'infra/proxy/haproxy.cfg' : 'infra/proxy/nginx.conf';
  const text = readFileSync(join(root, source), 'utf8')
    .replace('bind :8080', `bind 127.0.0.1:${port}`)
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
    .replace('timeout server 75s', 'timeout server 3s')
    .replace('proxy_read_timeout 10s', 'proxy_read_timeout 3s')
    .replace('/dev/stdout', join(directory, 'access.log'))
    .replaceAll('/tmp/nginx', join(directory, 'nginx'));
  return pods.reduce((all, at, index) => all.replaceAll(`api-${index + 1}:3000`, `127.0.0.1:${at}`), text);
}

async function startStandIn(name: string): Promise<StandIn> {
  const server = createServer();
  const pod = { name, server, port: await listenOnFreePort(server), seen: [], streams: [], ready: true };
  server.on('request', (request, response) => answer(pod, request, response));
  return pod;
}

function answer(pod: StandIn, request: IncomingMessage, response: ServerResponse): void {
  const path = (request.url ?? '').split('?')[0] ?? '';
  if (path === '/readyz') return void response.writeHead(pod.ready ? 200 : 503).end();
  pod.seen.push({ method: request.method ?? '', path, from: String(request.headers['x-forwarded-for']) });
  request.resume();
  if (path.endsWith('/events')) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: first\n\n');
    pod.streams.push(response);
  } else if (path === '/drop') request.once('end', () => request.socket.destroy());
  else if (path.endsWith('/wait')) setTimeout(() => response.end(pod.name), 6000);
  else if (!path.endsWith('/response')) response.end(pod.name);
}
