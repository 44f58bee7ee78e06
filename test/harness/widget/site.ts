import { setMaxListeners } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ParleyClient, Question } from '@parley/sdk';
import type { Elicitation } from '@parley/shared/domain/elicitations/elicitation';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { launchChromium } from '../../../infra/demo/chromium.ts';
import { createRoundRobin } from '../http/round-robin.ts';
import { startPod } from '../processes/processes.ts';
import { startRedis } from '../redis/redis-server.ts';
import { newUser, POD_ENV, serviceAt } from '../sdk/setup.ts';
import { type Bank, startBank } from './site-bank.ts';
import { buildWidget } from './site-build.ts';
import { type Pages, pathOf, type Shown, startPages } from './site-pages.ts';

/** Three pods behind a balancer, a site with the widget on its pages, a site that questions link to, and a browser. */
export interface Site {
  readonly pages: Pages;
  readonly bank: Bank;
  /** The agents' side. */
  readonly service: ParleyClient;
  /** Names of the pods that answered the pages so far. */
  readonly answeredBy: ReadonlySet<string>;
  /** Opens a browser of a person without questions so far. */
  person(options?: BrowserContextOptions): Promise<Person>;
  stop(): Promise<void>;
}

/** A question as its asker gives it; whom it is for is known. */
export type Asks = { mode?: 'form' | 'url'; url?: string; requestedSchema?: object } & Partial<
  Pick<Elicitation, 'message' | 'title' | 'description' | 'completion' | 'sensitive'>
> & { context?: Record<string, string>; timeoutSeconds?: number };

export interface Asked {
  readonly id: string;
  /** The result with which the asking agent continues. */
  readonly outcome: Promise<{ readonly status: string }>;
}

/** One person with one browser; several pages are its tabs. */
export interface Person {
  readonly userId: string;
  readonly context: BrowserContext;
  ask(more: Asks): Promise<Asked>;
  /** Opens a page with the cards of these questions. */
  open(shown?: Shown): Promise<Page>;
  /** What a page had to complain of, and what it asked of other hosts. */
  readonly faults: string[];
}

const OWN_HOSTS = ['127.0.0.1', 'localhost'];

// Nothing of a test leaves the machine.
const NO_OTHER_HOSTS = `--host-resolver-rules=MAP * ~NOTFOUND${OWN_HOSTS.map((host) => `, EXCLUDE ${host}`).join('')}`;

/** Starts the site. `chromiumPath` is the browser to drive. */
export async function startSite(chromiumPath: string): Promise<Site> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-widget-'));
  const [redis, browser] = await Promise.all([
    // Nothing starts it again: a slow disk need not hold it up.
    startRedis({ args: ['--appendonly', 'no'] }),
    launchChromium(chromiumPath, [NO_OTHER_HOSTS]),
    buildWidget(folder),
  ]);
  const pods = await Promise.all([0, 1, 2].map(() => startPod({ ...POD_ENV, REDIS_URL: redis.url })));
  const balancer = await createRoundRobin({ targets: pods.map(({ url }) => url) });
  const service = serviceAt(balancer.url);
  const [pages, bank] = await Promise.all([
    startPages(folder, balancer.url),
    startBank((elicitationId) => service.complete(elicitationId)),
  ]);
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  const answeredBy = new Set<string>();
  return {
    pages,
    bank,
    service,
    answeredBy,
    async person(options = {}) {
      const context = await browser.newContext({ locale: 'en-US', timezoneId: 'Europe/Berlin', ...options });
      context.on('response', (response) => {
        const pod = response.headers()['x-parley-upstream'];
        if (pod !== undefined) answeredBy.add(pod);
      });
      return createPerson(context, pages, service, over.signal);
    },
    async stop() {
      over.abort();
      await browser.close();
      await Promise.all([pages.close(), bank.close(), balancer.close()]);
      await Promise.all(pods.map((pod) => pod.stop()));
      await redis.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function createPerson(
  context: BrowserContext,
  pages: Pages,
  service: ParleyClient,
  signal: AbortSignal,
): Person {
  const userId = newUser();
  const faults: string[] = [];
  context.setDefaultTimeout(30_000);
  context.on('request', (request) => {
    const { hostname, protocol } = new URL(request.url());
    if (protocol.startsWith('http') && !OWN_HOSTS.includes(hostname)) faults.push(`asked ${hostname}`);
  });
  return {
    userId,
    context,
    faults,
    async ask(more) {
      const question = { userId, mode: 'form', message: 'Which colour?', timeoutSeconds: 600, ...more };
      const { elicitation, outcome } = await service.start(question as Question, { signal });
      return { id: elicitation.elicitationId, outcome };
    },
    async open(shown = {}) {
      const page = await context.newPage();
      listenTo(page, faults);
      await page.goto(pages.url + pathOf(userId, shown));
      return page;
    },
  };
}

function listenTo(page: Page, faults: string[]): void {
  page.on('console', (message) => {
    // Replies other than 2xx, and none at all, are what some tests are about.
    const isOfCall = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isOfCall) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('dialog', (dialog) => {
    faults.push(`said ${dialog.message()}`);
    void dialog.dismiss();
  });
}
