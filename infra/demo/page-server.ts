import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { listenOnFreePort } from '../../test/harness/free-port.ts';

export interface PageServer {
  readonly url: string;
  /** Registers a page for a person to visit; `onDone` runs when they press its button. Returns its URL. */
  addVisit(name: string, onDone: () => Promise<void>): string;
  close(): Promise<void>;
}

export interface PageOptions {
  readonly apiUrl: () => string;
  readonly userToken: string;
  readonly userId: string;
}

const file = (name: string) => readFileSync(new URL(`./page/${name}`, import.meta.url), 'utf8');
const TYPES: Readonly<Record<string, string>> = { html: 'text/html', css: 'text/css', js: 'text/javascript' };

/** Serves the page where a person answers, and the pages that url questions lead to. */
export async function startPageServer({ apiUrl, userToken, userId }: PageOptions): Promise<PageServer> {
  const visits = new Map<string, () => Promise<void>>();

  const server = createServer((req, res) => {
    const { pathname } = new URL(req.url ?? '/', 'http://page');
    const visit = /^\/visit\/([\w-]+)$/.exec(pathname)?.[1];
    if (pathname === '/') return send(res, 'html', file('index.html'));
    if (pathname === '/page.js' || pathname === '/page.css')
      return send(res, pathname.slice(6), file(pathname.slice(1)));
    // The demo's own stand-in for a sign-in: whoever can open this page is the demo's one person.
    if (pathname === '/session')
      return send(res, 'json', JSON.stringify({ api: apiUrl(), token: userToken, userId }));
    const onDone = visit === undefined ? undefined : visits.get(visit);
    if (onDone === undefined) return void res.writeHead(404).end();
    if (req.method !== 'POST') return send(res, 'html', file('visit.html'));
    visits.delete(visit ?? '');
    onDone().then(
      () => send(res, 'html', file('done.html')),
      () => res.writeHead(500).end(),
    );
  });
  const port = await listenOnFreePort(server);
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    addVisit(name, onDone) {
      visits.set(name, onDone);
      return `${url}/visit/${name}`;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function send(res: ServerResponse, kind: string, text: string): void {
  res.writeHead(200, {
    'content-type': `${TYPES[kind] ?? 'application/json'}; charset=utf-8`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  res.end(text);
}
