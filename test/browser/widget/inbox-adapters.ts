import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { COLOUR_FORM } from '../../harness/sdk/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import type { Site, WithPerson } from '../../harness/widget/site.ts';

/** Functions that the scripts below provide for the test. */
declare const shown: {
  tell(part: unknown): void;
  stop(): void;
};

const DOCS = readFileSync(new URL('../../../docs/widget.md', import.meta.url), 'utf8');

const AI_SDK_PAGE = `
  import { createElicitationServer } from './elicitation-server.js';
  import { createElicitationCards } from './ai-sdk.js';
  const cards = createElicitationCards({ server: createElicitationServer(access), agent: 'Painter' });
  const seen = new Set();
  globalThis.shown = {
    tell(part) {
      const card = cards.cardFor(part);
      if (card) document.querySelector('#chat').append(card), seen.add(card);
      document.querySelector('output').textContent = String(seen.size);
    },
  };
`;

const DOM_EVENTS_PAGE = `
  import { createElicitationServer } from './elicitation-server.js';
  import { mountOnDomEvents } from './dom-events.js';
  const chat = document.querySelector('#chat');
  const stop = mountOnDomEvents({
    target: document,
    server: createElicitationServer(access),
    place: ({ title }) => (title === 'Nowhere' ? null : chat),
  });
  const tell = ({ type, data }) => {
    const detail = { ...data, conversationId: 'chat-1', timestamp: Date.now() };
    chat.dispatchEvent(new CustomEvent('ikp-' + type, { detail, bubbles: true, composed: true }));
  };
  globalThis.shown = { tell, stop };
`;

const REACT_PAGE = `
  import { createElement, useState } from 'react';
  import { createRoot } from 'react-dom/client';
  import { createElicitationServer } from './elicitation-server.js';
  import { ElicitationCard, ElicitationInbox } from './react.js';
  const server = createElicitationServer(access);
  function App() {
    const [waiting, setWaiting] = useState();
    const [asked, setAsked] = useState();
    const [settled, setSettled] = useState('');
    globalThis.shown = { tell: ({ data }) => setAsked(data) };
    return createElement('div', null,
      createElement('p', { id: 'count' }, waiting + ' for you ' + settled),
      createElement(ElicitationInbox, {
        server, collapsed: true, onElicitationInboxChange: ({ detail }) => setWaiting(detail.waiting),
      }),
      asked && createElement(ElicitationCard, {
        server, elicitation: asked, agent: 'Painter', headingLevel: 2,
        onElicitationSettled: ({ detail }) => setSettled(detail.status),
      }));
  }
  createRoot(document.querySelector('#chat')).render(createElement(App));
`;

/** Bundled like an app: React from its own packages, the widget from the shipped files. */
async function bundled(script: string, folder: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: script, resolveDir: folder },
    bundle: true,
    write: false,
    format: 'esm',
    nodePaths: [fileURLToPath(new URL('../../../node_modules', import.meta.url))],
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  return outputFiles[0]?.text ?? '';
}

/** Tests of the ways to mount cards from a chat, in pages of a running site. */
export function adapters(site: () => Site, withPerson: WithPerson): void {
  const question = (title: string) => ({ title, requestedSchema: COLOUR_FORM });
  const partOf = (data: object) => ({ type: 'data-elicitation-request', id: 'any', data: { v: 1, ...data } });
  const chat = '<div id="chat"></div>';

  it('creates one card for a message part, however often it arrives, and keeps typed values', () =>
    withPerson(async (ada) => {
      const page = await ada.visit({ body: chat, script: AI_SDK_PAGE });
      const asked = await ada.ask(question('Paint the door'));
      const tell = (part: object) => page.evaluate((sent) => shown.tell(sent), part);
      await tell({ type: 'text', text: 'Let me ask.' });
      await tell({ type: 'data-elicitation-request', data: { status: 'pending' } });
      await tell(partOf(asked.elicitation));
      const card = page.locator('elicitation-card');
      await card.getByText('Asked by Painter').waitFor();
      await card.getByRole('textbox').fill('two coats');
      await tell(partOf(asked.elicitation));
      expect(await page.locator('output').innerText()).toBe('1');
      expect(await card.getByRole('textbox').inputValue()).toBe('two coats');
      await card.getByRole('radio', { name: 'red' }).check();
      await card.getByRole('button', { name: 'Send' }).click();
      await page.locator('elicitation-card[data-state=accepted]').waitFor();
      // A replayed stream delivers outdated events.
      await tell(partOf(asked.elicitation));
      expect(await card.getAttribute('data-state')).toBe('accepted');
      expect(await asked.outcome).toMatchObject({ content: { colour: 'red', note: 'two coats' } });
    }));

  it('mounts a card for the DOM event of a question, and removes it at the end', () =>
    withPerson(async (ada) => {
      const page = await ada.visit({ body: chat, script: DOM_EVENTS_PAGE });
      const [asked, nowhere] = [
        await ada.ask(question('Paint the door')),
        await ada.ask(question('Nowhere')),
      ];
      const tell = (data: object) => page.evaluate((sent) => shown.tell(sent), partOf(data));
      await tell({ elicitationId: 'no question' });
      await tell(nowhere.elicitation);
      await tell(asked.elicitation);
      await tell(asked.elicitation);
      const card = page.locator('#chat > elicitation-card');
      expect(await card.count()).toBe(1);
      await card.getByText('Paint the door').waitFor();
      await card.evaluate((element) => element.remove());
      await tell(asked.elicitation);
      expect(await card.count()).toBe(1);
      await site().service.withdraw(asked.id);
      await page.locator('elicitation-card[data-state=withdrawn]').waitFor();
      await page.evaluate(() => shown.stop());
      await tell(asked.elicitation);
      expect(await card.count()).toBe(0);
    }));

  it('works with the example in docs/widget.md', () =>
    withPerson(async (ada) => {
      const [, lines = ''] = /```html\n([\s\S]*?)```/u.exec(DOCS) ?? [];
      expect(lines.trim().split('\n')).toHaveLength(15);
      const { id } = await ada.ask(question('Paint the door'));
      const html = lines.replace('https://parley.example.com', site().parley);
      const page = await ada.visit({ html, query: `?id=${id}` });
      await page.getByRole('heading', { name: 'Paint the door' }).waitFor();
      await page.getByRole('button', { name: 'Not now' }).click();
      await page.locator('elicitation-card[data-state=cancelled]').waitFor();
    }));

  it('works as a React component', () =>
    withPerson(async (ada) => {
      const page = await ada.visit({ body: chat, script: await bundled(REACT_PAGE, site().folder) });
      const count = page.locator('#count');
      await waitUntil(async () => (await count.innerText()).startsWith('0 for you'), {
        what: 'the first count',
      });
      const asked = await ada.ask(question('Paint the door'));
      await page.getByRole('button', { name: '1 waiting' }).waitFor();
      await page.evaluate((part) => shown.tell(part), partOf(asked.elicitation));
      await page.getByRole('heading', { name: 'Paint the door', level: 2 }).waitFor();
      await page.getByText('Asked by Painter').waitFor();
      await page.getByRole('button', { name: 'Decline' }).click();
      await waitUntil(async () => (await count.innerText()) === '0 for you declined', { what: 'the end' });
    }));
}
