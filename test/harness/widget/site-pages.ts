import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { listenOnFreePort } from '../free-port.ts';
import { createForwarder } from '../http/forward-request.ts';
import { tokenOf } from '../sdk/setup.ts';

/** The content of a page, with its language and direction. */
export interface Shown {
  /** The questions to show a card of. */
  readonly ids?: readonly string[];
  readonly lang?: string;
  readonly dir?: 'ltr' | 'rtl';
  /** Puts the cards far down the page. */
  readonly deep?: boolean;
  /** Sends the header that isolates a page from the pages it opens. */
  readonly strict?: boolean;
}

type Matches = (method: string, path: string) => boolean;

/** A site that forwards calls to Parley, and can imitate a slow or broken network. */
export interface Pages {
  readonly url: string;
  /** Holds back matching calls until the returned function is called. */
  hold(matches: Matches): () => void;
  /** Forwards the next matching call, and drops its reply. */
  loseReplyTo(matches: Matches): void;
  /** The number of matching calls so far. */
  count(matches: Matches): number;
  close(): Promise<void>;
}

export const isAnswerTo = (id: string) => (method: string, path: string) =>
  method === 'POST' && path === `/v1/elicitations/${id}/response`;
export const isLook = (method: string, path: string) =>
  method === 'GET' && /^\/v1\/(?:elicitations|inbox)/u.test(path);

const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'";

/** The file that holds createElicitationServer. */
const SERVER_FILE = 'elicitation-server.js';
const SCRIPT = `
import { createElicitationServer } from './${SERVER_FILE}';
import './elicitation-card.js';
const server = createElicitationServer({ getToken: async () => (await fetch('token')).text() });
globalThis.settled = [];
document.addEventListener('elicitation-settled', ({ detail }) => settled.push(detail));
// As a chat page does when a question arrives.
globalThis.show = (more) => {
  const card = Object.assign(document.createElement('elicitation-card'), { server, ...more });
  document.querySelector('main').append(card);
};
// As a chat page does when its stream delivers the question again.
globalThis.tell = (elicitation) => Object.assign(document.querySelector('elicitation-card'), { elicitation });
for (const card of document.querySelectorAll('elicitation-card')) card.server = server;
// No button has been pressed yet.
globalThis.unasked = window.open('about:blank') === null ? 'blocked' : 'opened';
`;
const STYLE = '.deep { block-size: 400vh } body { margin: 0.5rem; font-family: sans-serif }';

/** The path of a page for one person. */
export function pathOf(userId: string, shown: Shown): string {
  return `/${userId}/?${new URLSearchParams({ shown: JSON.stringify(shown) })}`;
}

/** Starts the site. `folder` holds the shipped files; calls go to `parley`. */
export async function startPages(folder: string, parley: string): Promise<Pages> {
  const calls: (readonly [method: string, path: string])[] = [];
  const gates = new Set<{ matches: Matches; open: Promise<void> }>();
  const losses: Matches[] = [];
  const target = { name: 'parley', url: new URL(parley), healthy: true };
  const forwarder = createForwarder({ candidates: () => [target], onAnswer: () => undefined });
  const server = createServer((req, res) => {
    answer(req, res).catch((error: unknown) => res.writeHead(500).end(String(error)));
  });

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(req.url ?? '', parley);
    if (/^\/(?:v1|run|auth)\//u.test(pathname)) return pass(req, res, pathname);
    const [, userId = '', file] = /^\/(user-[\w-]+)\/([\w.-]*)$/u.exec(pathname) ?? [];
    if (file === undefined) return void res.writeHead(404).end();
    if (file === 'token') return void res.end(await tokenOf(userId));
    const shown = JSON.parse(searchParams.get('shown') ?? '{}') as Shown;
    const [type, text] = await fileOf(file, shown);
    res.writeHead(200, {
      'content-type': `text/${type}; charset=utf-8`,
      'content-security-policy': POLICY,
      ...(shown.strict && { 'cross-origin-opener-policy': 'same-origin' }),
    });
    res.end(text);
  }

  async function fileOf(file: string, shown: Shown): Promise<[type: string, text: string | Buffer]> {
    if (file === '') return ['html', htmlOf(shown)];
    if (file === 'page.css') return ['css', STYLE];
    return ['javascript', file === 'page.js' ? SCRIPT : await readFile(join(folder, file))];
  }

  async function pass(req: IncomingMessage, res: ServerResponse, path: string): Promise<void> {
    const method = req.method ?? '';
    calls.push([method, path]);
    for (const { matches, open } of [...gates]) if (matches(method, path)) await open;
    const loss = losses.findIndex((matches) => matches(method, path));
    if (loss < 0) return forwarder.handle(req, res);
    losses.splice(loss, 1);
    const upstream = request(new URL(path, parley), { method, headers: req.headers }, (reply) => {
      reply.resume().on('end', () => res.destroy());
    });
    req.pipe(upstream);
  }

  const url = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  return {
    url,
    hold(matches) {
      const { promise, resolve } = openable();
      const gate = { matches, open: promise };
      gates.add(gate);
      return () => {
        gates.delete(gate);
        resolve();
      };
    },
    loseReplyTo: (matches) => void losses.push(matches),
    count: (matches) => calls.filter((call) => matches(...call)).length,
    async close() {
      forwarder.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function openable(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

function htmlOf({ ids = [], lang = 'en', dir = 'ltr', deep = false }: Shown): string {
  const cards = ids.map((id) => `<elicitation-card elicitation-id="${id}"></elicitation-card>`);
  return `<!doctype html><html lang="${lang}" dir="${dir}"><head><title>A chat</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="page.css"></head>
<body><main><h1>A chat</h1><h2>Today</h2><label>Message <input></label>${deep ? '<div class="deep"></div>' : ''}
${cards.join('\n')}</main><script type="module" src="page.js"></script></body></html>`;
}
