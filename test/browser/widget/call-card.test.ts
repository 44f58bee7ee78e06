import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { createMemoryVaultStore } from '@parley/shared/memory/vault-store';
import { createVault } from '@parley/shared/vault/vault';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium } from '../../../demo/chromium.ts';
import { createTypedIdentity } from '../../../services/api/src/pages/identity/typed.ts';
import {
  type AppHost,
  type AppHostPages,
  type OpenedHost,
  openAppHostPages,
} from '../../harness/apps/app-host.ts';
import { requestApproval } from '../../harness/engines/approvals.ts';
import { answerQuestion } from '../../harness/engines/questions.ts';
import { describeInChromium, openPage } from '../../harness/in-chromium.ts';
import { CLIENTS } from '../../harness/mcp-clients/clients.ts';
import { type McpSite, openMcpSite } from '../../harness/mcp-clients/setup.ts';
import { paced } from '../../harness/pace.ts';
import { type HostedPages, openHostedPages } from '../../harness/pages/hosted-pages.ts';
import { newPerson, openQuestion } from '../../harness/protocols/pods.ts';
import { newKeys } from '../../harness/vault/stores.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { widgetBuild } from '../../harness/widget/site-build.ts';
import { axe, NARROW, overflow } from '../../harness/widget/site-look.ts';

const TRUSTED = 'host-that-may-approve';

await describeInChromium('the card of a call, in a host of another origin,', (chromium) => {
  let folder: string;
  let browser: Browser;
  let site: McpSite;
  let pages: AppHostPages;
  let hosted: HostedPages;
  let answerPage: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-call-card-'));
    const { bundleCallCard, faultsOfBundle } = await widgetBuild();
    const bundle = await bundleCallCard(folder);
    expect(faultsOfBundle(bundle)).toEqual([]);
    const html = await readFile(join(folder, 'call-card.html'), 'utf8');
    hosted = await openHostedPages();
    answerPage = `${hosted.publicUrl}/auth/answer/`;
    [browser, site, pages] = await Promise.all([
      launchChromium(chromium),
      openMcpSite({
        card: { html, approveIn: new Set([TRUSTED]) },
        answerPage: { baseUrl: answerPage, afterMs: 60_000 },
      }),
      openAppHostPages(),
    ]);
  });
  afterAll(async () => {
    hosted?.close();
    await Promise.all([browser?.close(), pages?.stop(), site?.stop()]);
    await rm(folder, { recursive: true, force: true });
  });

  /** A call of the agent whose card a host shows. Nothing may be refused by a policy in the meantime. */
  async function withCall(
    message: string,
    more: Partial<OpenedHost>,
    use: (host: AppHost, person: ReturnType<typeof newPerson>) => Promise<void>,
  ): Promise<void> {
    const person = newPerson();
    const call = { tool: 'helper', arguments: { message } };
    const host = await pages.open(browser, { url: site.pods[0].url, token: person.token, ...call, ...more });
    try {
      await use(host, person);
      expect(host.faults).toEqual([]);
    } finally {
      await host.close();
    }
  }

  const open = (host: AppHost) => host.card.locator('elicitation-card[data-state=pending]');

  it.each([
    ['its host says which tool it is', true],
    ['only the result of the call says so', false],
  ])('asks, answers and has the model call again, where %s', (_what, tellsTool) =>
    withCall('text: in the card', { tellsTool }, async (host) => {
      await host.call();
      await open(host).waitFor();
      await open(host).getByRole('textbox').fill('green');
      await open(host).getByRole('button', { name: 'Send' }).click();
      await host.card.locator('elicitation-card[data-state=accepted]').waitFor();
      await waitUntil(() => host.noted[0], { what: 'the message to the chat' });
      const text = expect.stringContaining('helper');
      expect(host.noted).toEqual([['message', { role: 'user', content: [{ type: 'text', text }] }]]);
      expect(JSON.stringify(await host.call())).toContain('green');
    }),
  );

  it('shows that it was answered in another place, and leaves it to a button to say so', () =>
    withCall('text: elsewhere', { takesMessages: false }, async (host, person) => {
      await host.call();
      await open(host).waitFor();
      const { engine } = site.pods[1];
      const { id } = await openQuestion(engine, person);
      await answerQuestion(engine, person, id, 'accept', { answer: 'blue' });
      await host.card.locator('elicitation-card[data-state=elsewhere]').waitFor();
      expect(host.noted).toEqual([]);
      await host.card.getByRole('button', { name: 'Continue in the chat' }).click();
      await host.card.getByText('Tell the assistant that you are done.').waitFor();
      expect(host.noted).toHaveLength(1);
    }));

  it('shows that the time is over', () =>
    withCall('text: too late', {}, async (host, person) => {
      await host.call();
      await open(host).waitFor();
      const { engine } = site.pods[0];
      const { definition } = await openQuestion(engine, person);
      const { tenant, userId, streamRequestId, conversationId } = definition;
      const context = { trigger: 'agent' };
      const requestedSchema = { type: 'object', properties: { answer: { type: 'string' } } };
      // The card shows it before.
      const timeoutSeconds = paced(5);
      const input = { mode: 'form', message: 'Quick?', requestedSchema, timeoutSeconds, context } as const;
      await engine.ask({ tenant, input: { ...input, userId, streamRequestId, conversationId } });
      const quick = host.card.locator('elicitation-card', { hasText: 'Quick?' });
      await quick.waitFor();
      // As the sweep of any pod does.
      await waitUntil(async () => (await engine.sweep()).expired > 0, { what: 'the deadline' });
      await host.card.locator('elicitation-card[data-state=expired]').waitFor();
      expect(await open(host).count()).toBe(1);
    }));

  it('keeps an answer while its host refuses calls, and sends it once it takes them', () =>
    withCall('text: offline', {}, async (host) => {
      await host.call();
      await open(host).getByRole('textbox').fill('white');
      host.refuse(true);
      await host.card.getByRole('button', { name: 'Send' }).click();
      await host.card.getByRole('button', { name: 'Try again' }).waitFor();
      await host.card.getByText('cannot reach the service').waitFor();
      host.refuse(false);
      await host.card.locator('elicitation-card[data-state=accepted]').waitFor();
      expect(JSON.stringify(await host.call())).toContain('white');
    }));

  it('opens the page of what is not answered here, once its address has been in view', () =>
    withCall('page: in the browser', {}, async (host, person) => {
      await host.call();
      const { id } = await openQuestion(site.pods[0].engine, person);
      const link = host.card.locator('elicitation-card').getByRole('link');
      await host.card.locator('a[aria-disabled=false]').waitFor();
      await link.click();
      await host.card.locator('elicitation-card[data-state=opened]').waitFor();
      await link.click();
      const url = `${answerPage}${id}`;
      await expect
        .poll(() => host.noted)
        .toEqual([
          ['link', url],
          ['link', url],
        ]);
      expect(await host.card.getByRole('button', { name: /Not now|Cancel|Decline/ }).count()).toBe(0);
      expect((await openQuestion(site.pods[0].engine, person)).status).toBe('pending');
    }));

  it.each([
    [undefined, 0],
    [TRUSTED, 1],
  ])('in a host with the client id %s lets approvals be decided: %d', (clientId, count) =>
    withCall(
      'text: to approve',
      clientId ? { headers: { 'x-client-id': clientId } } : {},
      async (host, person) => {
        await host.call();
        await open(host).waitFor();
        const { engine } = site.pods[0];
        const { definition } = await openQuestion(engine, person);
        const { streamRequestId, conversationId } = definition;
        const { row } = await requestApproval(engine, { ...person, streamRequestId }, { conversationId });
        if (clientId === undefined) {
          await host.card.getByText('Travel desk wants to call bookings_cancel').waitFor();
          // A hostile host lets its model press.
          const call = { tool: 'helper', arguments: { message: 'text: to approve' } };
          const response = { decision: 'approve' };
          expect(await host.callAny('parley_answer', { ...call, id: row.id, response })).toMatchObject({
            isError: true,
            structuredContent: { code: 'page_required' },
          });
          await host.card.getByRole('link', { name: `Open the page on ${new URL(answerPage).host}` }).click();
          await expect.poll(() => host.noted).toEqual([['link', `${answerPage}${row.id}`]]);
        } else {
          await host.card.locator('approval-card [part=primary][aria-disabled=false]').click();
          await host.card.locator('approval-card .call[data-state=approved]').waitFor();
        }
        expect(await host.card.locator('approval-card').count()).toBe(count);
      },
    ),
  );

  it.each([
    ['light', 1280, 'en-US'],
    ['dark', NARROW, 'de-DE'],
  ] as const)('has the theme %s, the width %i and the language %s of its host', (theme, width, locale) =>
    withCall(
      'text page: looks',
      { context: { theme: 'light', locale: 'en' }, viewport: { width, height: 900 } },
      async (host) => {
        await host.call();
        await open(host).first().waitFor();
        // What another window sends is ignored: this one is not the card's host.
        await host.page.evaluate(() => {
          const params = { theme: 'dark', styles: { variables: { '--of-another': '1' } } };
          const notice = { jsonrpc: '2.0', method: 'ui/notifications/host-context-changed', params };
          window.frames[0]?.frames[0]?.postMessage(notice, '*');
        });
        await host.change({
          theme,
          locale,
          styles: { variables: { '--color-text-primary': theme === 'dark' ? '#fafafa' : '#171717' } },
        });
        await host.card.getByRole('button', { name: theme === 'dark' ? 'Senden' : 'Send' }).waitFor();
        const look = await host.card.locator('html').evaluate((root) => ({
          lang: root.getAttribute('lang'),
          scheme: getComputedStyle(root).colorScheme,
          ofAnother: getComputedStyle(root).getPropertyValue('--of-another'),
          isWide: root.scrollWidth > root.clientWidth,
          isCut: root.scrollHeight > innerHeight + 1,
        }));
        await expect
          .poll(() => host.card.locator('html').evaluate((root) => root.scrollHeight > innerHeight + 1))
          .toBe(false);
        expect(look).toMatchObject({ lang: locale, scheme: theme, ofAnother: '', isWide: false });
        expect(await axe(host.frame())).toEqual([]);
        expect(await host.frame().evaluate(overflow)).toEqual([]);
      },
    ),
  );

  it('shows nothing to answer of a call that is not known any more', () =>
    withCall('text: forgotten', {}, async (host, person) => {
      await host.call();
      await open(host).waitFor();
      // As after its result was fetched.
      const { mcp } = site.pods[0].backend.ownerRecords;
      for (const { name } of await mcp.list(person, 'mcp-call/')) await mcp.remove(person, name);
      await host.card.getByText('Nothing waits here any more.').waitFor();
      expect(await host.card.locator('elicitation-card').count()).toBe(0);
      expect(host.noted).toEqual([]);
    }));

  it('shows how far its call has come', () =>
    withCall('steps: in the card', { context: { locale: 'de' } }, async (host) => {
      const steps = new PassThrough({ objectMode: true });
      site.steps.set('steps: in the card', steps);
      const result = host.call();
      const status = host.card.getByRole('status');
      try {
        await status.getByText('steps wird verwendet').waitFor();
        steps.write({ progress: 2, total: 3, message: '<b>Copying</b>' });
        await status.getByText('<b>Copying</b>').waitFor();
        const bar = host.card.getByRole('progressbar', { name: 'Fortschritt' });
        const drawn = await bar.evaluate((one: HTMLProgressElement) => {
          const { accentColor, color } = getComputedStyle(one);
          return [one.value, one.max, accentColor === color];
        });
        expect(drawn).toEqual([2, 3, true]);
        // It is a line in a chat: where nothing is asked, it has no heading.
        const faults = (await axe(host.frame())).filter((one) => !one.startsWith('page-has-heading-one'));
        expect(faults).toEqual([]);
        steps.write({ progress: 4, message: 'Done soon' });
        await status.getByText('Done soon').waitFor();
        expect(await bar.count()).toBe(0);
      } finally {
        steps.end();
        await result;
      }
      await status.getByText('Done soon').waitFor({ state: 'detached' });
    }));

  it('is not there for a host without apps: its text names the page, where the user answers, and the call completes', async () => {
    const person = newPerson();
    const keys = newKeys();
    const vault = createVault({ store: createMemoryVaultStore(), keys });
    hosted.serve(site.pods[1], { keys, vault, identity: createTypedIdentity(person.tenant) });
    const client = await CLIENTS.v1({
      urls: site.pods.map(({ url }) => url),
      token: person.token,
      shows: false,
      answer: () => ({ action: 'cancel' }),
    });
    const page = await openPage(browser);
    try {
      expect(await client.listTools()).toEqual([expect.not.objectContaining({ _meta: expect.anything() })]);
      const { text } = await client.call('text: without apps');
      await page.goto(text.match(/https?:\S+/u)?.[0] ?? '');
      await page.getByRole('textbox').fill(person.userId);
      await page.getByRole('button').first().click();
      await page.getByText('Which colour?').waitFor();
      await page.getByRole('textbox').fill('green');
      await page.getByRole('button').first().click();
      await page.getByRole('textbox').waitFor({ state: 'detached' });
      expect((await client.call('text: without apps')).text).toContain('green');
    } finally {
      await Promise.all([page.close(), client.close()]);
    }
  });

  it('takes no place where nothing was asked', () =>
    withCall('hello: you', {}, async (host) => {
      await host.card.getByText('Working').waitFor();
      await host.call();
      await expect
        .poll(() => host.card.locator('main').evaluate((main) => main.getBoundingClientRect().height))
        .toBe(0);
    }));
});
