import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { extname } from 'node:path';
import { listenOnFreePort } from '../../test/harness/free-port.ts';

/** The company's own web application: the chat page, and a way from it to Parley. */
export interface PageServer {
  readonly url: string;
  close(): Promise<void>;
}

export interface PageOptions {
  /** Parley's load balancer; what the page asks below `/run` goes there. */
  readonly apiUrl: string;
  /** Everybody who may use the page; the first unless the address names another. */
  readonly people: readonly string[];
  /** A token that tells Parley who somebody is. */
  readonly tokenOf: (userId: string) => Promise<string>;
  /** What the page says of the model. */
  readonly model: string;
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
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

/** Serves the chat page, and passes its calls on to Parley, as a deployer's own web server does. */
export async function startPageServer(options: PageOptions): Promise<PageServer> {
  const files = new Set(readdirSync(FOLDER));
  const server = createServer((req, res) => {
    const url = new URL(req.url ?? '/', 'http://page');
    const name = url.pathname === '/' ? 'index.html' : url.pathname.slice(1);
    if (url.pathname.startsWith('/run/')) return passOn(req, res, options.apiUrl);
    if (url.pathname === '/session') return void sendSession(res, url.searchParams.get('person'), options);
    if (files.has(name)) return send(res, extname(name), readFileSync(new URL(name, FOLDER), 'utf8'));
    res.writeHead(404, HEADERS).end();
  });
  const port = await listenOnFreePort(server);
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The demo's own stand-in for being signed in to the company's application: whoever opens the page is who they say. */
async function sendSession(res: ServerResponse, asked: string | null, options: PageOptions): Promise<void> {
  const { people, tokenOf, model } = options;
  const person = asked === null ? people[0] : people.find((name) => name === asked);
  if (person === undefined) return void res.writeHead(404, HEADERS).end();
  const other = people.find((name) => name !== person);
  const session = { person, other, token: await tokenOf(person), model };
  send(res, '.json', JSON.stringify(session));
}

function passOn(req: IncomingMessage, res: ServerResponse, apiUrl: string): void {
  const onward = request(new URL(req.url ?? '/', apiUrl), {
    method: req.method ?? 'GET',
    headers: req.headers,
  });
  onward.on('response', (answer) => {
    res.writeHead(answer.statusCode ?? 502, answer.headers);
    res.flushHeaders();
    answer.pipe(res);
    // A stream that broke off must not look as if it had ended.
    answer.on('aborted', () => res.destroy());
    answer.on('error', () => res.destroy());
  });
  onward.on('error', () => (res.headersSent ? res.destroy() : res.writeHead(502).end()));
  res.on('close', () => onward.destroy());
  req.pipe(onward);
}

function send(res: ServerResponse, type: string, text: string): void {
  const contentType = `${TYPES[type] ?? 'application/json'}; charset=utf-8`;
  res.writeHead(200, { ...HEADERS, 'content-type': contentType }).end(text);
}
