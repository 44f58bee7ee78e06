import type { Browser, Page } from 'playwright-core';
import { loadClientFiles } from '../../../demo/client-files.ts';
import { openPage } from '../../harness/in-chromium.ts';

const PATH = '/inbox-page/';
const HTML = `<!doctype html><html lang="en"><title>Inbox</title><elicitation-inbox></elicitation-inbox>
<script type="module" src="page.js"></script></html>`;

/** Opens the widget's inbox of the person with this token, on a page of the deployment's own origin. */
export async function openInboxPage(browser: Browser, url: string, token: string): Promise<Page> {
  const files = await loadClientFiles(() => undefined);
  const script = `
    import { createElicitationServer } from './elicitation-server.js';
    import './elicitation-inbox.js';
    const server = createElicitationServer({ getToken: () => ${JSON.stringify(token)} });
    document.querySelector('elicitation-inbox').server = server;`;
  const page = await openPage(browser, { locale: 'en-US' });
  await page.route(`${url}${PATH}*`, async (route) => {
    const name = new URL(route.request().url()).pathname.slice(PATH.length);
    if (name === '') await route.fulfill({ contentType: 'text/html', body: HTML });
    else
      await route.fulfill({
        contentType: 'text/javascript',
        body: name === 'page.js' ? script : (files.get(name) ?? ''),
      });
  });
  await page.goto(`${url}${PATH}`);
  return page;
}
