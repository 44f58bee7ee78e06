import { createServer, request, type Server } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type PageServer, startPageServer } from '../../../demo/page-server.ts';
import { listenOnFreePort } from '../../harness/free-port.ts';

const TOKEN = 'a-token-of-ada';

/** A server that notes what it is asked for. */
async function startNoting(): Promise<{ server: Server; port: number; paths: string[] }> {
  const paths: string[] = [];
  const server = createServer((req, res) => {
    paths.push(req.url ?? '');
    res.end('here');
  });
  return { server, port: await listenOnFreePort(server), paths };
}

let api: Awaited<ReturnType<typeof startNoting>>;
let stranger: typeof api;
let page: PageServer;
let port: number;

beforeAll(async () => {
  [api, stranger] = await Promise.all([startNoting(), startNoting()]);
  page = await startPageServer({
    apiUrl: `http://127.0.0.1:${api.port}`,
    clientFiles: new Map(),
    people: ['ada'],
    tokenOf: async () => TOKEN,
    ask: async () => 'el_1',
    model: 'scripted',
  });
  port = Number(new URL(page.url).port);
});
afterAll(async () => {
  await page?.close();
  for (const { server } of [api, stranger]) server.close();
});

/** Sends a request target as it is, which fetch would not do. */
function get(path: string, host = `127.0.0.1:${port}`): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers: { host }, agent: false }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      res.on('end', () => resolve({ status: res.statusCode ?? 0, text }));
    });
    sent.on('error', reject).end();
  });
}

it('passes calls on to Parley only, whatever server the request names', async () => {
  expect(await get('/run/api/chat?x=1')).toEqual({ status: 200, text: 'here' });
  await get(`http://127.0.0.1:${stranger.port}/run/absolute`);
  await get(`//127.0.0.1:${stranger.port}/run/slashes`);
  await get(`/run/../../127.0.0.1:${stranger.port}/v1/dots`);
  expect(stranger.paths).toEqual([]);
  expect(api.paths).toContain('/run/api/chat?x=1');
});

it('replies only under its own names, so that no other page can read a token after it changed its address', async () => {
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`]) {
    expect((await get('/session?person=ada', host)).text).toContain(TOKEN);
  }
  const before = api.paths.length;
  for (const host of ['evil.test', `evil.test:${port}`, `127.0.0.1.evil.test:${port}`, '127.0.0.1']) {
    for (const path of ['/session?person=ada', '/', '/run/api/chat']) {
      const reply = await get(path, host);
      expect({ host, path, status: reply.status }).toEqual({ host, path, status: 421 });
      expect(reply.text).not.toContain(TOKEN);
    }
  }
  expect(api.paths).toHaveLength(before);
});
