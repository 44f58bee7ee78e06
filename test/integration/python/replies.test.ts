import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../harness/free-port.ts';
import { suiteNotRun } from '../../harness/not-run.ts';
import { type Python, pythonNotRun, startPython } from '../../harness/python/bridge.ts';

const CLIENTS = ['sync', 'async'] as const;
const ELICITATION = JSON.stringify({ elicitationId: 'el_1', status: 'pending' });
const MEBIBYTE = 1024 * 1024;

const head = (status: string, ...fields: string[]) => [`HTTP/1.1 ${status}`, ...fields, '', ''].join('\r\n');
const sized = (status: string, body: string, ...fields: string[]) =>
  head(status, `content-length: ${body.length}`, ...fields) + body;
const chunked = (...chunks: string[]) =>
  head('200 OK', 'Transfer-Encoding: chunked') +
  chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');

/** A server that sends the same bytes to whatever it is asked, and then ends the connection unless it `holds` it. */
async function serving(bytes: string, { holds = false } = {}) {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', (data) => {
      asked.push(data.toString());
      if (holds) socket.write(bytes);
      else socket.end(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as { readonly port: number };
  return { url: `http://127.0.0.1:${port}/parley/`, asked };
}

const why = await pythonNotRun();
if (why !== undefined) suiteNotRun('replies that the Python client gets', why);
else describe('replies that the Python client gets', suite);

function suite() {
  let python: Python;
  beforeAll(() => {
    python = startPython('http://127.0.0.1', { give_up: 0.4, first_delay: 0.02, attempt: 0.2 });
  });
  afterAll(() => python?.kill());

  const get = (baseUrl: string, client: 'sync' | 'async') =>
    python.call('get', { client, baseUrl, token: 'secret', args: ['el_1'] });

  it.each([
    ['a length', sized('200 OK', ELICITATION)],
    ['chunks', chunked(ELICITATION.slice(0, 9), ELICITATION.slice(9), '')],
    ['an end', head('200 OK') + ELICITATION],
    ['an interim reply', head('100 Continue') + sized('200 OK', ELICITATION)],
  ])('reads a body with %s, beneath the path of the base URL', async (_, bytes) => {
    const { url, asked } = await serving(bytes);
    for (const client of CLIENTS)
      expect((await get(url, client)).value).toMatchObject({ elicitationId: 'el_1' });
    for (const request of asked)
      expect(request).toMatch(/^GET \/parley\/v1\/elicitations\/el_1 HTTP\/1\.1\r\n/);
  });

  it.each([
    ['a page of a proxy', sized('200 OK', '<html>'), 'internal', 200],
    ['JSON of something else', sized('200 OK', '[]'), 'internal', null],
    ['an error page', sized('502 Bad Gateway', '<html>'), 'unavailable', 502],
    ['a body that breaks off', head('200 OK', 'content-length: 999') + ELICITATION, 'unavailable', null],
    ['chunks that break off', chunked(ELICITATION), 'unavailable', null],
    ['no HTTP', 'SSH-2.0-OpenSSH_9\r\n\r\n', 'unavailable', null],
    ['nothing', '', 'unavailable', null],
    ['a body that is too large', sized('200 OK', ' '.repeat(8 * MEBIBYTE + 1)), 'internal', null],
    ['chunks that are too large', chunked(...Array<string>(9).fill(' '.repeat(MEBIBYTE))), 'internal', null],
    ['a refusal for an hour', sized('429 Slow', '', 'retry-after: 3600'), 'rate_limited', 429],
    ['a code of a newer server', problem(409, 'brand_new'), 'brand_new', 409],
  ] as const)('%s', async (_, bytes, code, status) => {
    const { url } = await serving(bytes);
    for (const client of CLIENTS) {
      const { error } = await get(url, client);
      expect(error, client).toMatchObject({ code, status });
      expect(error?.message ?? '').not.toContain('secret');
    }
  });

  it('follows no redirect, which would take the token elsewhere', async () => {
    const other = await serving(sized('200 OK', ELICITATION));
    const { url } = await serving(sized('307 Moved', '', `location: ${other.url}`));
    for (const client of CLIENTS) expect((await get(url, client)).error?.status).toBe(307);
    expect(other.asked).toEqual([]);
  });

  it('gives up on a server that never replies, and on one that never ends its reply', async () => {
    for (const bytes of ['', head('200 OK', 'content-length: 999')]) {
      const { url } = await serving(bytes, { holds: true });
      for (const client of CLIENTS) expect((await get(url, client)).error?.code, client).toBe('unavailable');
    }
  });

  it('says which address cannot be reached, and refuses what is none', async () => {
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    for (const client of CLIENTS)
      expect((await get(nowhere, client)).error).toMatchObject({
        code: 'unavailable',
        message: `Parley cannot be reached at ${nowhere}.`,
      });
    for (const url of ['ftp://example.com', 'https://ada:secret@example.com', 'example.com', 'http://a:b'])
      expect((await get(url, 'sync')).error).toMatchObject({ code: 'invalid_request' });
  });
}

function problem(status: number, code: string): string {
  return sized(`${status} Refused`, JSON.stringify({ code }), 'content-type: application/problem+json');
}
