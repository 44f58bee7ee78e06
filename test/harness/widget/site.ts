import { setMaxListeners } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import type { ParleyClient, Question } from '@parley/sdk';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { launchChromium } from '../../../demo/chromium.ts';
import { createRoundRobin } from '../http/round-robin.ts';
import { ACTION_MS, STILL } from '../in-chromium.ts';
import { startPod } from '../processes/processes.ts';
import { startRedis } from '../redis/redis-server.ts';
import { newUser, POD_ENV, serviceAt } from '../sdk/setup.ts';
import { type Bank, startBank } from './site-bank.ts';
import { type Bundle, buildWidget } from './site-build.ts';
import { type HostPage, type Pages, pathOf, type Shown, startPages } from './site-pages.ts';

/** Two pods behind a balancer, a site with the widget on its pages, and a site that questions link to. */
export interface Site {
  readonly pages: Pages;
  /** Base URL of Parley. */
  readonly parley: string;
  /** The folder of the shipped files. */
  readonly folder: string;
  readonly bundles: readonly Bundle[];
  readonly bank: Bank;
  /** The agents' side. */
  readonly service: ParleyClient;
  /** Names of the pods that answered the pages so far. */
  readonly answeredBy: ReadonlySet<string>;
  /**
   * A person without questions so far, with windows of a browser: those of another person before, which saves
   * processor time, or new ones, with these options. Who changes the clock or the scripts of a window needs new ones.
   */
  person(browser: Browser, options?: BrowserContextOptions): Promise<Person>;
  stop(): Promise<void>;
}

/** A question as its asker gives it; whom it is for is known. */
export type Asks = { mode?: 'form' | 'url'; url?: string; requestedSchema?: object } & Partial<
  Pick<Elicitation, Texts | 'completion' | 'sensitive'>
> & { context?: Record<string, string>; timeoutSeconds?: number };

type Texts = 'message' | 'title' | 'description' | 'conversationId' | 'streamRequestId';

export interface Asked {
  readonly id: string;
  readonly elicitation: Elicitation;
  /** The result with which the asking agent continues. */
  readonly outcome: Promise<{ readonly status: string }>;
}

/** One person with one browser; several pages are its tabs. */
export interface Person {
  readonly userId: string;
  readonly context: BrowserContext;
  /** Hands the windows to the next person. */
  leave(): Promise<void>;
  ask(more: Asks): Promise<Asked>;
  /** Opens a page with the cards of these questions. */
  open(shown?: Shown): Promise<Page>;
  /** Opens a page of a host, at another origin than Parley. */
  visit(page: HostPage): Promise<Page>;
  /** What a page had to complain of, and what it asked of other hosts. */
  readonly faults: string[];
}

/** Hands a person to a test, and looks afterwards whether a page had to complain. With options, windows are new. */
export type WithPerson = (
  use: (person: Person) => Promise<void>,
  options?: BrowserContextOptions,
) => Promise<void>;

declare const handOver: (path: string, ids: readonly string[]) => void;

const OWN_HOSTS = ['127.0.0.1', 'localhost'];

// Nothing of a test leaves the machine.
const NO_OTHER_HOSTS = `--host-resolver-rules=MAP * ~NOTFOUND${OWN_HOSTS.map((host) => `, EXCLUDE ${host}`).join('')}`;

/** Starts a browser for the pages of a site, the Chromium at that path. */
export function launchFor(chromiumPath: string): Promise<Browser> {
  return launchChromium(chromiumPath, [NO_OTHER_HOSTS]);
}

/** Starts the site. */
export async function startSite(): Promise<Site> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-widget-'));
  const [redis, pages, bundles] = await Promise.all([
    // Nothing starts it again: a slow disk need not hold it up.
    startRedis({ args: ['--appendonly', 'no'] }),
    startPages(folder),
    buildWidget(folder),
  ]);
  const env = { ...POD_ENV, REDIS_URL: redis.url, PARLEY_CORS_ORIGINS: pages.url };
  const pods = await Promise.all([0, 1].map(() => startPod(env)));
  const balancer = await createRoundRobin({ targets: pods.map(({ url }) => url), healthTimeoutMs: 30_000 });
  pages.setParley(
    balancer.url,
    pods.map(({ url }) => new URL(url)),
  );
  const service = serviceAt(balancer.url);
  const bank = await startBank((elicitationId) => service.complete(elicitationId));
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  const answeredBy = new Set<string>();
  const onPod = (pod: string) => answeredBy.add(pod);
  const idle = new Map<Browser, Windows>();
  return {
    pages,
    bank,
    service,
    answeredBy,
    folder,
    bundles,
    parley: balancer.url,
    async person(browser, options) {
      const known = options === undefined ? idle.get(browser) : undefined;
      if (known !== undefined) idle.delete(browser);
      const windows = known ?? (await openWindows(browser, onPod, options));
      const person = createPerson(windows, pages, service, over.signal);
      return {
        ...person,
        async leave() {
          if (options !== undefined || idle.has(browser)) return windows.context.close();
          await tidy(windows);
          idle.set(browser, windows);
        },
      };
    },
    async stop() {
      over.abort();
      await Promise.all([pages.close(), bank.close(), balancer.close()]);
      await Promise.all(pods.map((pod) => pod.stop()));
      await redis.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The windows that persons have one after the other. */
interface Windows {
  readonly context: BrowserContext;
  readonly first: Page;
  /** Of the person who has them now. */
  faults: string[];
  /** The first page is one that `handOver` can give to the next person. */
  isPlain: boolean;
}

async function openWindows(
  browser: Browser,
  onPod: (name: string) => void,
  options: BrowserContextOptions = {},
): Promise<Windows> {
  const context = await browser.newContext({
    ...STILL,
    locale: 'en-US',
    timezoneId: 'Europe/Berlin',
    ...options,
  });
  const windows: Windows = { context, first: await context.newPage(), faults: [], isPlain: false };
  context.setDefaultTimeout(ACTION_MS);
  context.on('response', (response) => {
    // The server of the pages, too, names itself there when it hands a reply through.
    const pod = /\d+/u.exec(response.headers()['x-parley-upstream'] ?? '')?.[0];
    if (pod !== undefined) onPod(pod);
  });
  context.on('request', (request) => {
    const { hostname, protocol } = new URL(request.url());
    if (protocol.startsWith('http') && !OWN_HOSTS.includes(hostname))
      windows.faults.push(`asked ${hostname}`);
  });
  listenTo(windows.first, windows);
  return windows;
}

/** Leaves one page, with what it shows: the next person's page takes its place, at the latest when it is loaded. */
async function tidy({ context, first }: Windows): Promise<void> {
  const others = context.pages().filter((page) => page !== first);
  await Promise.all(others.map((page) => page.close()));
  await context.setOffline(false);
  await context.clearPermissions();
  await first.emulateMedia({ ...STILL, colorScheme: null, forcedColors: null });
  await first.setViewportSize({ width: 1280, height: 720 });
}

function createPerson(
  windows: Windows,
  pages: Pages,
  service: ParleyClient,
  signal: AbortSignal,
): Omit<Person, 'leave'> {
  const userId = newUser();
  const { context } = windows;
  const faults: string[] = [];
  let isFirst = true;
  return {
    userId,
    context,
    faults,
    async ask(more) {
      const question = { userId, mode: 'form', message: 'Which colour?', timeoutSeconds: 600, ...more };
      const { elicitation, outcome } = await service.start(question as Question, { signal });
      return { id: elicitation.elicitationId, elicitation, outcome };
    },
    open: ({ ids = [], ...special } = {}) =>
      openAt(pathOf(userId, { ids, ...special }), Object.keys(special).length === 0 ? ids : undefined),
    visit: (page) => openAt(pages.add(userId, page)),
  };

  /** With the ids of the cards alone, a page of the same kind that is there will do. */
  async function openAt(path: string, ids?: readonly string[]): Promise<Page> {
    const page = isFirst ? windows.first : await context.newPage();
    const isThere = isFirst && windows.isPlain && ids !== undefined;
    if (isFirst) windows.isPlain = ids !== undefined;
    else listenTo(page, windows);
    if (isThere) {
      windows.faults = faults;
      await page.evaluate(([to, cards]) => handOver(to, cards), [path, ids] as const);
    } else {
      // Until then it shows the page of the person before.
      if (isFirst) page.once('framenavigated', () => Object.assign(windows, { faults }));
      await page.goto(pages.url + path);
    }
    isFirst = false;
    return page;
  }
}

function listenTo(page: Page, windows: Windows): void {
  page.on('console', (message) => {
    // Replies other than 2xx, and none at all, are what some tests are about.
    const isOfCall = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isOfCall) windows.faults.push(message.text());
  });
  page.on('pageerror', (error) => windows.faults.push(error.message));
  page.on('dialog', (dialog) => {
    windows.faults.push(`said ${dialog.message()}`);
    void dialog.dismiss();
  });
}
