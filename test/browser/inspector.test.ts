import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium } from '../../demo/chromium.ts';
import { describeInChromium, openPage } from '../harness/in-chromium.ts';
import { type McpSite, openMcpSite } from '../harness/mcp-clients/setup.ts';
import { suiteNotRun } from '../harness/not-run.ts';
import { newPerson } from '../harness/protocols/pods.ts';
import { inspect, startInspectorPage } from '../harness/stacks/inspector.ts';
import { findInspector } from '../harness/stacks/packages.ts';
import { widgetBuild } from '../harness/widget/site-build.ts';

const found = findInspector();
if ('notRun' in found) suiteNotRun('MCP Inspector', found.notRun);
else
  await describeInChromium('MCP Inspector, which shows forms, apps and tasks', (chromium) => {
    const person = newPerson();
    let site: McpSite;
    let browser: Browser;
    let inspector: Awaited<ReturnType<typeof startInspectorPage>>;
    let page: Page;
    let parley: { readonly url: string; readonly token: string };
    beforeAll(async () => {
      const folder = await mkdtemp(join(tmpdir(), 'parley-inspector-'));
      await (await widgetBuild()).bundleCallCard(folder);
      const html = await readFile(join(folder, 'call-card.html'), 'utf8');
      await rm(folder, { recursive: true });
      site = await openMcpSite({ card: { html, approveIn: new Set() } });
      parley = { url: `${site.pods[0].url}/run/v1/mcp`, token: person.token };
      [browser, inspector] = await Promise.all([
        launchChromium(chromium),
        startInspectorPage(parley, '2026-07-28'),
      ]);
      page = await openPage(browser);
      await page.goto(inspector.url);
      await page.getByRole('switch').click({ force: true });
      await page.getByText('Connected', { exact: true }).waitFor();
    });
    afterAll(async () => {
      await Promise.all([browser?.close(), inspector?.stop(), site?.stop()]);
    });

    /** Opens a list of its page, chooses the agent there and gives it a task. */
    async function begin(list: 'Apps' | 'Tools', message: string): Promise<void> {
      await page.getByText(list, { exact: true }).first().click();
      await page.getByText('Helper', { exact: true }).first().click();
      await page.getByRole('textbox', { name: 'message' }).fill(message);
      await page.getByRole('button', { name: list === 'Apps' ? 'Open App' : 'Execute Tool' }).click();
    }

    it('shows the form of a task, and answers by the task', async () => {
      await begin('Tools', 'text: in a task');
      await page.getByText('submitted via a tasks/update request').waitFor();
      await page.getByRole('textbox', { name: 'Your answer' }).fill('green');
      await page.getByRole('button', { name: 'Submit' }).click();
      await page.getByText('Heard: {"status":"accepted","answer":"green"}').first().waitFor();
      await page.getByText('Completed (1)').waitFor();
    });

    it('shows the card while a task works, says beside it what the task does, and sees the end', async () => {
      const message = 'steps: in a card';
      const steps = new PassThrough({ objectMode: true });
      site.steps.set(message, steps);
      await begin('Apps', message);
      const card = page.frameLocator('iframe').frameLocator('iframe').locator('main');
      await card.getByText('Working').waitFor();
      await page.getByText('Using steps').first().waitFor();
      steps.end();
      await page.getByText('Heard: done').first().waitFor();
      await expect.poll(() => card.evaluate((main) => main.getBoundingClientRect().height)).toBe(0);
    });

    it('finds the card of a tool where its command declares apps, and none otherwise', async () => {
      const probe = (...more: string[]) =>
        inspect<object>(
          parley,
          ...['--method', 'tools/call', '--tool-name', 'helper', '--app-info', '--format', 'json', ...more],
        );
      expect(await probe('--advertise-apps')).toMatchObject({
        appInfo: {
          hasApp: true,
          resourceUri: 'ui://parley/call',
          csp: { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] },
        },
      });
      expect(await probe()).toMatchObject({ appInfo: { hasApp: false } });
    });
  });
