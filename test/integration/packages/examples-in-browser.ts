import { join } from 'node:path';
import type { ParleyClient } from '@parley/sdk';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { launchChromium } from '../../../demo/chromium.ts';
import { startExample } from '../../harness/examples/start.ts';
import { freePort } from '../../harness/free-port.ts';
import { openPage } from '../../harness/in-chromium.ts';
import type { Consumer } from '../../harness/packages/consumer.ts';
import { isFullSize } from '../../harness/proof-size.ts';

interface ExamplesSite {
  /** Installs an example, with these settings beside those of the server. */
  open(name: string, settings?: Readonly<Record<string, string>>): Promise<Consumer>;
  /** The client of the service that asks. */
  service(): ParleyClient;
}

/** The examples with pages, in the browser at this path. */
export function inBrowser(path: string, { open, service }: ExamplesSite): void {
  describe('in a browser', () => {
    let browser: Browser;

    beforeAll(async () => {
      browser = await launchChromium(path);
    });
    afterAll(() => browser?.close());

    async function visit(url: string): Promise<Page> {
      const page = await openPage(browser);
      onTestFinished(() => page.close());
      await page.goto(url);
      return page;
    }

    const answer = async (page: Page, text: string) => {
      const card = page.locator('elicitation-card');
      await card.getByRole('textbox').fill(text);
      await card
        .getByRole('button', { name: /send|answer|submit/i })
        .first()
        .click();
    };

    /** Writes in a chat, answers the question of its agent there once the stream no longer waits, and reads the reply. */
    async function chatAt(url: string): Promise<void> {
      const page = await visit(url);
      await page.getByRole('textbox', { name: 'Message' }).fill('Plan a trip');
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await page.locator('elicitation-card').waitFor();
      await page.getByRole('textbox', { name: 'Message' }).fill('Hurry');
      await page.locator('button[type=submit]:enabled', { hasText: 'Send' }).waitFor();
      await answer(page, 'Lisbon');
      await page.getByText(/Then I plan: .*Lisbon/).waitFor();
    }

    it('plain-page: the person of the session answers in the inbox', async () => {
      const port = await freePort();
      const url = `http://localhost:${port}`;
      await startExample(await open('plain-page', { PORT: `${port}` }), ['npm', 'start'], /The page is at/);
      expect((await fetch(`${url}/token`)).status).toBe(401);
      const { outcome } = await service().start({
        userId: 'me',
        mode: 'form',
        message: 'Which colour?',
        requestedSchema: { type: 'object', properties: { colour: { type: 'string' } } },
      });
      const page = await visit(url);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('button', { name: /Which colour/ }).click();
      await answer(page, 'blue');
      expect(await outcome).toMatchObject({ status: 'accepted', content: { colour: 'blue' } });
    });

    it('vite-chat: a question of the agent is answered in the chat', async () => {
      const port = await freePort();
      const example = await open('vite-chat');
      const vite = join(example.folder, 'node_modules/.bin/vite');
      await example.run(vite, 'build');
      const preview = [vite, 'preview', '--port', `${port}`, '--strictPort'];
      await startExample(example, preview, /Local/);
      await chatAt(`http://localhost:${port}`);
    });

    // Next.js has 100 MB, and its build takes as long as all other examples together.
    it.runIf(isFullSize)('next-chat: a question of the agent is answered in the chat', async () => {
      const port = await freePort();
      const example = await open('next-chat');
      await example.run('npm', 'run', 'build');
      await startExample(example, ['npm', 'start', '--', '--port', `${port}`], /Ready/);
      await chatAt(`http://localhost:${port}`);
    });
  });
}
