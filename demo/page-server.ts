/**
 * The web server of the invented company, as a deployer would write one. The pages that it serves are in `page/` and know
 * nothing of this file.
 */

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { extname } from 'node:path';
import { listenOnFreePort } from '../test/harness/free-port.ts';

/** The company's own web application: the chat page, a bare page for one question, and a connection from them to Parley. */
export interface PageServer {
  readonly url: string;
  close(): Promise<void>;
}

export interface PageOptions {
  /** Parley's load balancer, which receives the pages' calls below `/run` and `/v1`. */
  readonly apiUrl: string;
  /** The files of Parley's clients, by name. */
  readonly clientFiles: ReadonlyMap<string, string>;
  /** The people who may use the pages; the first is the default. */
  readonly people: readonly string[];
  /** Gets a token that identifies a person to Parley. */
  readonly tokenOf: (userId: string) => Promise<string>;
  /** Asks a person a question for the bare page, and returns the question's id. */
  readonly ask: (userId: string) => Promise<string>;
  /** The chat page's text about the model. */
  readonly model: string;
  /**
   * How long a browser may cache scripts and styles, in seconds. @default 0: they may have changed when the demo starts again
   */
  readonly keepSeconds?: number;
}

const FOLDER = new URL('./page/', import.meta.url);
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
};
const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** Serves the pages and forwards their calls to Parley, as a deployer's own web server does. */
export async function startPageServer(options: PageOptions): Promise<PageServer> {
  const files = new Set(readdirSync(FOLDER));
  let port = 0;
  const server = createServer((req, res) => {
    // Under another host name, the page would belong to somebody else, who could then read a token.
    if (!hostsAt(port).includes(req.headers.host ?? '')) return void res.writeHead(421, HEADERS).end();
    const url = new URL(req.url ?? '/', 'http://page');
    if (/^\/(?:run|v1)\//.test(url.pathname))
      return passOn(req, res, `${options.apiUrl}${url.pathname}${url.search}`);
    if (url.pathname === '/session') return void sendSession(res, url.searchParams.get('person'), options);
    if (url.pathname === '/bare' && !url.searchParams.has('id')) return void askFirst(res, url, options);
    const name = NAMES[url.pathname] ?? url.pathname.slice(1);
    const text = files.has(name)
      ? readFileSync(new URL(name, FOLDER), 'utf8')
      : options.clientFiles.get(name);
    if (text !== undefined) return send(res, extname(name), text, { keepSeconds: options.keepSeconds });
    res.writeHead(404, HEADERS).end();
  });
  port = await listenOnFreePort(server);
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The names of this server, which listens on loopback only. */
function hostsAt(port: number): readonly string[] {
  return [`127.0.0.1:${port}`, `localhost:${port}`];
}

const NAMES: Readonly<Record<string, string>> = { '/': 'index.html', '/bare': 'bare.html' };

/** Stands in for a session of the company's application: the caller's claimed identity is accepted without proof. */
async function sendSession(res: ServerResponse, asked: string | null, options: PageOptions): Promise<void> {
  const person = personOf(asked, options);
  const { people, tokenOf, model } = options;
  if (person === undefined) return send(res, '.json', JSON.stringify({ asked, people }), { status: 404 });
  const other = people.find((name) => name !== person);
  const session = { person, other, token: await tokenOf(person), model };
  send(res, '.json', JSON.stringify(session));
}

/** The bare page shows the question in its address. Without one, a new question is asked. */
async function askFirst(res: ServerResponse, url: URL, options: PageOptions): Promise<void> {
  const person = personOf(url.searchParams.get('person'), options);
  if (person === undefined) return void res.writeHead(303, { ...HEADERS, location: `/${url.search}` }).end();
  try {
    url.searchParams.set('id', await options.ask(person));
    res.writeHead(303, { ...HEADERS, location: `/bare${url.search}` }).end();
  } catch {
    res.writeHead(502, HEADERS).end();
  }
}

function personOf(asked: string | null, { people }: PageOptions): string | undefined {
  return asked === null ? people[0] : people.find((name) => name === asked);
}

/** Forwards a request to `target`, which is always Parley: a request line may name any server. */
function passOn(req: IncomingMessage, res: ServerResponse, target: string): void {
  const onward = request(target, {
    method: req.method ?? 'GET',
    headers: req.headers,
  });
  onward.on('response', (answer) => {
    res.writeHead(answer.statusCode ?? 502, answer.headers);
    res.flushHeaders();
    answer.pipe(res);
    // A broken stream must not look like one that has ended.
    answer.on('aborted', () => res.destroy());
    answer.on('error', () => res.destroy());
  });
  onward.on('error', () => (res.headersSent ? res.destroy() : res.writeHead(502).end()));
  res.on('close', () => onward.destroy());
  req.pipe(onward);
}

function send(
  res: ServerResponse,
  type: string,
  text: string,
  { status = 200, keepSeconds = 0 }: { status?: number; keepSeconds?: number | undefined } = {},
): void {
  const kept = keepSeconds > 0 && type !== '.html' && { 'cache-control': `max-age=${keepSeconds}` };
  const own = {
    'content-type': `${TYPES[type] ?? 'application/json'}; charset=utf-8`,
    'content-security-policy': policyFor(type === '.html' ? text : ''),
  };
  res.writeHead(status, { ...HEADERS, ...kept, ...own }).end(text);
}

/** Only this server's own files may run. An inline script runs only if it was not changed. */
function policyFor(html: string): string {
  const inline = [...html.matchAll(/<script type="module">(.*?)<\/script>/gs)].map(
    ([, code = '']) => ` 'sha256-${createHash('sha256').update(code).digest('base64')}'`,
  );
  return [
    "default-src 'none'",
    `script-src 'self'${inline.join('')}`,
    "style-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
