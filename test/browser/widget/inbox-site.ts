import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Elicitation } from '@parley/shared/domain/elicitations/elicitation';
import type { BrowserContext, Page } from 'playwright-core';
import { launchChromium } from '../../../infra/demo/chromium.ts';
import { listenOnFreePort } from '../../harness/free-port.ts';
import { createRoundRobin } from '../../harness/http/round-robin.ts';
import { type Pod, startPod } from '../../harness/processes/processes.ts';
import { type RedisServer, startRedis } from '../../harness/redis/redis-server.ts';
import { newUser, POD_ENV, SERVICE_KEY, tokenOf } from '../../harness/sdk/setup.ts';

const FILES = [
  'elicitation-card',
  'approval-card',
  'elicitation-server',
  'elicitation-inbox',
  'ai-sdk',
  'dom-events',
  'react',
  'strings-de',
] as const;

/** Pods behind a balancer, a site of another origin with the widget on its pages, and a browser. */
export interface Site {
  /** Base URL of Parley. */
  readonly parley: string;
  /** The folder of the shipped files. */
  readonly folder: string;
  /** Opens a browser of a person without questions so far. */
  person(options?: { colorScheme?: 'light' | 'dark' }): Promise<Person>;
  stop(): Promise<void>;
}

/** One person with one browser; several pages are its tabs. */
export interface Person {
  readonly userId: string;
  readonly context: BrowserContext;
  /**
   * Opens a page with `body` in it and `script` as its module, by default only the inbox; or a page that consists of
   * `html`, without a policy.
   */
  open(page?: { body?: string; script?: string; html?: string; query?: string }): Promise<Page>;
  ask(more: object): Promise<Elicitation>;
  read(elicitationId: string): Promise<Elicitation>;
  withdraw(elicitationId: string): Promise<void>;
  /** Errors and warnings in the browser's console. */
  readonly faults: string[];
}

const INBOX_BODY = '<elicitation-inbox></elicitation-inbox>';
const INBOX_SCRIPT = `
  import { createElicitationServer } from './elicitation-server.js';
  import './elicitation-inbox.js';
  const inbox = document.querySelector('elicitation-inbox');
  inbox.addEventListener('elicitation-inbox-change', ({ detail }) => {
    document.querySelector('output').textContent = detail.waiting + ' for you';
  });
  inbox.server = createElicitationServer(access);
`;

/** Starts the site. `chromiumPath` is the browser to drive. */
export async function startSite(chromiumPath: string): Promise<Site> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-widget-'));
  const pages = createPages(folder);
  // Nothing starts it again: a slow disk need not hold it up.
  const starting = startRedis({ args: ['--appendonly', 'no'] });
  const [redis, origin] = await Promise.all([starting, pages.listen(), buildInto(folder)]);
  const env = { ...POD_ENV, REDIS_URL: redis.url, PARLEY_CORS_ORIGINS: origin };
  const [browser, ...pods] = await Promise.all([
    launchChromium(chromiumPath),
    ...[0, 1, 2].map(() => startPod(env)),
  ]);
  const balancer = await createRoundRobin({ targets: pods.map(({ url }) => url) });
  pages.parley = balancer.url;
  return {
    parley: balancer.url,
    folder,
    person: async (options = {}) =>
      createPerson(pages, origin, balancer.url, await browser.newContext(options)),
    async stop() {
      await browser.close();
      await balancer.close();
      await stopAll(pods, redis);
      await pages.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function stopAll(pods: readonly Pod[], redis: RedisServer): Promise<void> {
  await Promise.all(pods.map((pod) => pod.stop()));
  await redis.stop();
}

/** Builds the shipped files. */
async function buildInto(folder: string): Promise<void> {
  const build = new URL('../../../clients/widget/build.mjs', import.meta.url).href;
  const { bundle } = (await import(build)) as { bundle(name: string, outdir: string): Promise<unknown> };
  await Promise.all(FILES.map((name) => bundle(name, folder)));
}

function createPerson(pages: Pages, origin: string, parley: string, context: BrowserContext): Person {
  const userId = newUser();
  const faults: string[] = [];
  const asService = (path: string, init: RequestInit = {}) =>
    fetch(`${parley}/v1/elicitations${path}`, {
      ...init,
      headers: { authorization: `Bearer ${SERVICE_KEY}`, 'content-type': 'application/json' },
    });
  return {
    userId,
    context,
    faults,
    async open({ body = INBOX_BODY, script = INBOX_SCRIPT, html, query = '' } = {}) {
      const page = await context.newPage();
      page.on('console', (message) => {
        if (message.type() === 'error') faults.push(message.text());
      });
      page.on('pageerror', (error) => faults.push(error.message));
      await page.goto(`${origin}/${pages.add({ body, script, html, userId })}/${query}`);
      return page;
    },
    async ask(more) {
      const question = { userId, mode: 'form', message: 'Which colour?', timeoutSeconds: 600, ...more };
      const reply = await asService('', { method: 'POST', body: JSON.stringify(question) });
      if (reply.status !== 201) throw new Error(`${reply.status} ${await reply.text()}`);
      return (await reply.json()) as Elicitation;
    },
    read: async (id) => (await (await asService(`/${id}`)).json()) as Elicitation,
    async withdraw(id) {
      await asService(`/${id}`, { method: 'DELETE' });
    },
  };
}

interface PageText {
  readonly body: string;
  readonly script: string;
  readonly html: string | undefined;
  readonly userId: string;
}

interface Pages {
  /** Where Parley answers, for the pages and their policy. */
  parley: string;
  listen(): Promise<string>;
  /** Gives the page's path. */
  add(page: PageText): string;
  close(): Promise<void>;
}

const POLICY =
  "require-trusted-types-for 'script'; trusted-types lit-html 'allow-duplicates'; default-src 'none'; script-src 'self'; connect-src 'self'";

/** A site of static pages under the policy that docs/widget.md asks for, and a call that gives its users their token. */
function createPages(folder: string): Pages {
  const texts: PageText[] = [];
  const server: Server = createServer((req, res) => void answer(req, res));

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const [, index, file = ''] = /^\/(\d+)\/([\w.-]*)(?:\?|$)/u.exec(req.url ?? '') ?? [];
    const text = texts[Number(index)];
    if (text === undefined) return void res.writeHead(req.url === '/favicon.ico' ? 204 : 404).end();
    if (file === 'token') return void res.end(await tokenOf(text.userId));
    if (file === '') {
      const policy = `${POLICY} ${pages.parley}`;
      res.writeHead(200, {
        'content-type': 'text/html; charset=utf-8',
        ...(text.html === undefined && { 'content-security-policy': policy }),
      });
      return void res.end(text.html ?? htmlOf(text));
    }
    res.writeHead(200, { 'content-type': 'text/javascript; charset=utf-8' });
    res.end(file === 'page.js' ? scriptOf(text, pages.parley) : await readFile(join(folder, file)));
  }

  const pages: Pages = {
    parley: '',
    listen: async () => `http://127.0.0.1:${await listenOnFreePort(server)}`,
    add: (text) => String(texts.push(text) - 1),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return pages;
}

function htmlOf({ body }: PageText): string {
  return `<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>A page</title></head>
<body><main><h1>A page</h1><output></output><button>Elsewhere</button>${body}</main>
<script type="module" src="page.js"></script></body></html>`;
}

function scriptOf({ script }: PageText, parley: string): string {
  return `const access = {
  baseUrl: ${JSON.stringify(parley)},
  getToken: async () => (await fetch('token')).text(),
};
${script}`;
}
