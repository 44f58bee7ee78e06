import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenOnFreePort } from '../free-port.ts';

/** A third-party site that questions link to; to the browser it is another site than the one with the cards. */
export interface Bank {
  readonly url: string;
  /** A page for one question; `strict` cuts the link to its opener, as sign-in pages do. */
  newPage(options?: { strict?: boolean }): BankPage;
  close(): Promise<void>;
}

export interface BankPage {
  readonly url: string;
  /** Which question a press on its button finishes. */
  belongsTo(elicitationId: string): void;
  /** How often it was fetched. */
  visits(): number;
}

/** Starts the site; it calls `complete` to report to Parley that a person has finished. */
export async function startBank(complete: (elicitationId: string) => Promise<unknown>): Promise<Bank> {
  const owners: (string | undefined)[] = [];
  const visits: number[] = [];
  const server = createServer((req, res) => void answer(req, res));

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (req.url === '/frame')
      return void res
        .writeHead(200, { 'content-type': 'text/html' })
        .end(`<!doctype html><iframe src="${url}/empty"></iframe>`);
    const [, kind, index = ''] = /^\/(plain|strict)\/(\d+)(?:[?#]|$)/u.exec(req.url ?? '') ?? [];
    if (kind === undefined)
      return void res.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>');
    const headers = {
      'content-type': 'text/html',
      ...(kind === 'strict' && { 'cross-origin-opener-policy': 'same-origin' }),
    };
    const owner = owners[Number(index)];
    if (req.method === 'POST' && owner !== undefined) {
      await complete(owner);
      return void res.writeHead(200, headers).end('<!doctype html><h1>Confirmed</h1>');
    }
    visits[Number(index)] = (visits[Number(index)] ?? 0) + 1;
    res.writeHead(200, headers).end('<!doctype html><form method=post><button>Confirm</button></form>');
  }

  const url = `http://localhost:${await listenOnFreePort(server)}`;
  return {
    url,
    newPage({ strict = false } = {}) {
      const index = owners.push(undefined) - 1;
      return {
        url: `${url}/${strict ? 'strict' : 'plain'}/${index}?order=8821&back=%2Fchat#total`,
        belongsTo(elicitationId) {
          owners[index] = elicitationId;
        },
        visits: () => visits[index] ?? 0,
      };
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
