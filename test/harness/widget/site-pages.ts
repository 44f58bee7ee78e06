import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { listenOnFreePort } from '../free-port.ts';
import { createForwarder } from '../http/forward-request.ts';
import type { Pod } from '../http/target-pool.ts';
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

/** A page of a host: `body` with a module `script`, which finds Parley as `access`; or a page that consists of `html`. */
export interface HostPage {
  readonly body?: string;
  readonly script?: string;
  /** Without a policy. */
  readonly html?: string;
  readonly query?: string;
}

type Matches = (method: string, path: string) => boolean;

/** A site that forwards calls to Parley, and can imitate a slow or broken network. */
export interface Pages {
  readonly url: string;
  /** Where Parley answers: pages of hosts call `url` from another origin, and calls to the site go to the pods in turn. */
  setParley(url: string, pods: readonly URL[]): void;
  /** The path of a page of a host for one person. */
  add(userId: string, page: HostPage): string;
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
/** What docs/widget.md asks a host for. */
const HOST_POLICY =
  "require-trusted-types-for 'script'; trusted-types lit-html 'allow-duplicates'; default-src 'none'; script-src 'self'; connect-src 'self'";

/** The file that holds createElicitationServer. */
const SERVER_FILE = 'elicitation-server.js';
const SCRIPT = `
import { createElicitationServer } from './${SERVER_FILE}';
import './elicitation-card.js';
const main = document.querySelector('main');
let server;
const begin = () => {
  server = createElicitationServer({ getToken: async () => (await fetch('token')).text() });
  globalThis.settled = [];
};
document.addEventListener('elicitation-settled', ({ detail }) => settled.push(detail));
// As a chat page does when a question arrives.
globalThis.show = (more) => {
  main.append(Object.assign(document.createElement('elicitation-card'), { server, ...more }));
};
// Spares the next person the load of the same page.
globalThis.handOver = (path, ids) => {
  history.replaceState(null, '', path);
  for (const card of document.querySelectorAll('elicitation-card')) card.remove();
  document.querySelector('input').value = '';
  scrollTo(0, 0);
  begin();
  for (const id of ids) {
    main.insertAdjacentHTML('beforeend', '<elicitation-card elicitation-id="' + id + '"></elicitation-card>');
    main.lastElementChild.server = server;
  }
};
begin();
// As a chat page does when its stream delivers the question again.
globalThis.tell = (elicitation) => Object.assign(document.querySelector('elicitation-card'), { elicitation });
for (const card of document.querySelectorAll('elicitation-card')) card.server = server;
`;
const STYLE = '.deep { block-size: 400vh } body { margin: 0.5rem; font-family: sans-serif }';
const OWN_FILES: Readonly<Record<string, string>> = { 'page.js': SCRIPT, 'page.css': STYLE };

/** The path of a page for one person. */
export function pathOf(userId: string, shown: Shown): string {
  return `/${userId}/?${new URLSearchParams({ shown: JSON.stringify(shown) })}`;
}

/** Starts the site. `folder` holds the shipped files. */
export async function startPages(folder: string): Promise<Pages> {
  const calls: (readonly [method: string, path: string])[] = [];
  const gates = new Set<{ matches: Matches; open: Promise<void> }>();
  const losses: Matches[] = [];
  const hostPages: { readonly userId: string; readonly page: HostPage }[] = [];
  let parley = 'http://not.started';
  let targets: readonly Pod[] = [];
  const forwarder = createForwarder({
    candidates() {
      targets = [...targets.slice(1), ...targets.slice(0, 1)];
      return [...targets];
    },
    onAnswer: () => undefined,
  });
  const server = createServer((req, res) => {
    answer(req, res).catch((error: unknown) => res.writeHead(500).end(String(error)));
  });

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(req.url ?? '', 'http://pages');
    if (/^\/(?:v1|run|auth)\//u.test(pathname)) return pass(req, res, pathname);
    const [, shared] = /^\/files\/([\w.-]+)$/u.exec(pathname) ?? [];
    if (shared !== undefined) return answerFile(shared, res);
    const [, index, own = ''] = /^\/host-(\d+)\/([\w.-]*)$/u.exec(pathname) ?? [];
    const host = hostPages[Number(index)];
    if (host !== undefined) return answerFor(host, own, res);
    const [, userId = '', file] = /^\/(user-[\w-]+)\/([\w.-]*)$/u.exec(pathname) ?? [];
    if (file === undefined) return void res.writeHead(pathname === '/favicon.ico' ? 204 : 404).end();
    if (file === 'token') return void res.end(await tokenOf(userId));
    const shown = JSON.parse(searchParams.get('shown') ?? '{}') as Shown;
    res.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': POLICY,
      ...(shown.strict && { 'cross-origin-opener-policy': 'same-origin' }),
    });
    res.end(htmlOf(shown));
  }

  async function answerFile(file: string, res: ServerResponse): Promise<void> {
    const text = OWN_FILES[file] ?? (await readFile(join(folder, file)));
    // Kept, as a site would have it: with its compiled code it saves most of the next load.
    res.writeHead(200, {
      'content-type': `text/${file.endsWith('.css') ? 'css' : 'javascript'}; charset=utf-8`,
      'cache-control': 'max-age=3600',
    });
    res.end(text);
  }

  async function answerFor(
    { userId, page }: (typeof hostPages)[number],
    file: string,
    res: ServerResponse,
  ): Promise<void> {
    if (file === 'token') return void res.end(await tokenOf(userId));
    if (file === '') {
      const policy = page.html === undefined && { 'content-security-policy': `${HOST_POLICY} ${parley}` };
      res.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...policy });
      return void res.end(page.html ?? hostHtmlOf(page));
    }
    res.writeHead(200, { 'content-type': 'text/javascript; charset=utf-8' });
    res.end(file === 'page.js' ? hostScriptOf(page, parley) : await readFile(join(folder, file)));
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
    setParley(at, pods) {
      parley = at;
      targets = pods.map((pod, index) => ({ name: String(index), url: pod, healthy: true }));
    },
    add: (userId, page) => `/host-${hostPages.push({ userId, page }) - 1}/${page.query ?? ''}`,
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
<link rel="stylesheet" href="/files/page.css"></head>
<body><main><h1>A chat</h1><h2>Today</h2><label>Message <input></label>${deep ? '<div class="deep"></div>' : ''}
${cards.join('\n')}</main><script type="module" src="/files/page.js"></script></body></html>`;
}

function hostHtmlOf({ body = '' }: HostPage): string {
  return `<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>A page</title></head>
<body><main><h1>A page</h1><output></output><button>Elsewhere</button>${body}</main>
<script type="module" src="page.js"></script></body></html>`;
}

function hostScriptOf({ script = '' }: HostPage, parley: string): string {
  return `const access = {
  baseUrl: ${JSON.stringify(parley)},
  getToken: async () => (await fetch('token')).text(),
};
${script}`;
}
