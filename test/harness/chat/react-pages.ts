import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { launchChromium } from '../../../demo/chromium.ts';
import { listenOnFreePort } from '../free-port.ts';
import { createForwarder } from '../http/forward-request.ts';
import { openPage } from '../in-chromium.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const DOCS = readFileSync(new URL('../../../docs/chat-transport.md', import.meta.url), 'utf8');
const DOCS_URL = 'https://parley.example.com';

/** The component of docs/approvals.md for a stock page. */
export function approvalsPageInDocs(): string {
  const page = readFileSync(new URL('../../../docs/approvals.md', import.meta.url), 'utf8');
  const [, component] = /```tsx\n(.*?)```/s.exec(page) ?? [];
  if (component === undefined) throw new Error('The page has no component.');
  return component;
}

/** The component `Support` of docs/chat-transport.md with this transport, as a reader of the page would copy it. */
export function componentInDocs(transport: 'createChatTransport' | 'DefaultChatTransport'): string {
  const blocks = [...DOCS.matchAll(/```tsx\n(.*?)```/gs)].map(([, code = '']) => code);
  const found = blocks.find((code) => code.includes(`new ${transport}(`) || code.includes(` ${transport}(`));
  if (found === undefined) throw new Error(`The page has no component with ${transport}.`);
  return found;
}

/** Mounts the component in React's strict mode. Notes how often the page shows the first word of a reply, over reloads. */
const MOUNT = `
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
const root = document.getElementById('root');
new MutationObserver(() => {
  const shown = root.textContent.split('first-').length - 1;
  sessionStorage.firstWordsMax = Math.max(Number(sessionStorage.firstWordsMax ?? 0), shown);
}).observe(root, { subtree: true, childList: true, characterData: true });
createRoot(root).render(<StrictMode><Support id="c1" /></StrictMode>);
`;

/** Pages of one origin, each with a React component on it. */
export interface ReactPages {
  /** Opens the component for the person with this token, with a version of `ai` and the `@ai-sdk/react` that belongs to it. */
  open(component: string, token: string, version?: 6 | 7): Promise<Page>;
  /** How often a page has shown the first word of a reply at once. */
  firstWordsMax(page: Page): Promise<number>;
  stop(): Promise<void>;
}

export interface ReactPagesOptions {
  /** Path of the browser. */
  readonly chromium: string;
  /** The api, which the pages reach at their own origin. */
  readonly apiUrl: string;
}

/** Serves pages whose components talk to the api instead of the address in the docs. */
export async function openReactPages({ chromium, apiUrl }: ReactPagesOptions): Promise<ReactPages> {
  const scripts = new Map<string, string>();
  const bundles = new Map<string, Promise<string>>();
  /** A component that several pages show is bundled once. */
  const bundled = (component: string, version: 6 | 7) => {
    const key = `${version} ${component}`;
    const made = bundles.get(key) ?? bundle(component.replaceAll(DOCS_URL, origin), version);
    bundles.set(key, made);
    return made;
  };
  const api = { name: 'api', url: new URL(apiUrl), healthy: true };
  const forwarder = createForwarder({ candidates: () => [api], onAnswer: () => undefined });
  const server = createServer((req, res) => {
    const { url = '' } = req;
    if (/^\/(?:run|v1)\//u.test(url)) return forwarder.handle(req, res);
    const script = scripts.get(url);
    res.writeHead(200, { 'content-type': script === undefined ? 'text/html' : 'text/javascript' });
    res.end(script ?? `<!doctype html><div id="root"></div><script type="module" src="${url}.js"></script>`);
  });
  const origin = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  const browser = await launchChromium(chromium);
  return {
    async open(component, token, version = 6) {
      const path = `/${scripts.size}`;
      scripts.set(`${path}.js`, await bundled(component, version));
      const page = await openPage(browser);
      await page.addInitScript((known) => Object.assign(globalThis, { userToken: () => known }), token);
      await page.goto(origin + path);
      return page;
    },
    firstWordsMax: (page) => page.evaluate(() => Number(sessionStorage.getItem('firstWordsMax'))),
    async stop() {
      await browser.close();
      server.close();
      forwarder.close();
    },
  };
}

async function bundle(component: string, version: 6 | 7): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    stdin: { contents: `${component}\n${MOUNT}`, loader: 'tsx', resolveDir: ROOT },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    jsx: 'automatic',
    conditions: ['parley-source'],
    alias: version === 7 ? { ai: 'ai7', '@ai-sdk/react': 'ai-react4' } : {},
    define: { 'process.env.NODE_ENV': '"development"' },
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}
