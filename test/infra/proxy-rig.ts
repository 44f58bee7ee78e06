import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../../infra/check/programs.ts';
import { freePort, listenOnFreePort } from '../harness/free-port.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { type Edit, root } from './planted-tree.ts';

/** A stand-in for an api pod: it records the requests that reach it and behaves as their path asks. */
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
export type ProxyName = (typeof programs)[number];

/** How long a stream or an answer may be silent, instead of 75 s and 10 s. A long poll may be silent for longer. */
const SILENCE_MS = 3_000;
const LONG_POLL_MS = 4_500;

/**
 * Starts the shipped configuration in front of three stand-ins, with `edits` planted in it. Only addresses and times
 * are changed for the test.
 */
export async function startProxy(program: ProxyName, edits: readonly Edit[] = []): Promise<ProxyRig> {
  const directory = mkdtempSync(join(tmpdir(), 'parley-proxy-'));
  const pods = await Promise.all(['api-1', 'api-2', 'api-3'].map(startStandIn));
  const port = await freePort();
  const file = join(directory, 'proxy.cfg');
  const ports = pods.map((pod) => pod.port);
  writeFileSync(file, readConfiguration({ program, edits, directory, port, ports }));
  const args = program === 'haproxy' ? ['-db', '-f', file] : ['-c', file, '-g', 'daemon off;'];
  const child = spawn(findProgram(program) ?? program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const finished = once(child, 'close');
  let output = '';
  const append = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout.on('data', append);
  child.stderr.on('data', append);
  const log = (): string =>
    output + (program === 'nginx' ? readFileSync(join(directory, 'access.log'), 'utf8') : '');
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    for (const { server } of pods) server.closeAllConnections();
    await finished;
    for (const { server } of pods) server.close();
    rmSync(directory, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  const ended = (): boolean => child.exitCode !== null;
  await waitUntil(async () => ended() || (await fetch(`${url}/hello`)).ok, { what: `${program} to serve` });
  if (ended()) throw new Error(`${program} ended at once: ${output}`);
  return { url, pods, log, stop };
}

function readConfiguration(rig: {
  readonly program: ProxyName;
  readonly edits: readonly Edit[];
  readonly directory: string;
  readonly port: number;
  readonly ports: readonly number[];
}): string {
  const source = rig.program === 'haproxy' ? 'infra/proxy/haproxy.cfg' : 'infra/proxy/nginx.conf';
  let text = readFileSync(join(root, source), 'utf8');
  for (const [file, from, to] of rig.edits) {
    if (file !== source || !text.includes(from)) throw new Error(`${source} does not contain ${from}`);
    text = text.replace(from, () => to);
  }
  text = text
    .replace('bind :8080', `bind 127.0.0.1:${rig.port}`)
    .replace('listen 8080', `listen 127.0.0.1:${rig.port}`)
    .replace('timeout server 75s', `timeout server ${SILENCE_MS}ms`)
    .replace('proxy_read_timeout 10s', `proxy_read_timeout ${SILENCE_MS}ms`)
    .replace('/dev/stdout', join(rig.directory, 'access.log'))
    .replaceAll('/tmp/nginx', join(rig.directory, 'nginx'));
  return rig.ports.reduce(
    (all, port, index) => all.replaceAll(`api-${index + 1}:3000`, `127.0.0.1:${port}`),
    text,
  );
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
  else if (path.endsWith('/wait')) setTimeout(() => response.end(pod.name), LONG_POLL_MS);
  else if (!path.endsWith('/response')) response.end(pod.name);
}
