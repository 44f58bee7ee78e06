import { createServer, type Socket } from 'node:net';
import { signatureOf } from '@parley/shared/net/webhook-signature';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../harness/free-port.ts';
import { suiteNotRun } from '../../harness/not-run.ts';
import { type Python, pythonNotRun, startPython } from '../../harness/python/bridge.ts';

const CLIENTS = ['sync', 'async'] as const;
const TIMES = { expiresAt: '2026-01-15T10:00:00.000Z', serverTime: '2026-01-15T09:30:00.000Z' };
const QUESTION = { elicitationId: 'el_1', status: 'pending', ...TIMES };
const ELICITATION = JSON.stringify(QUESTION);
const MEBIBYTE = 1024 * 1024;

const head = (status: string, ...fields: string[]) => [`HTTP/1.1 ${status}`, ...fields, '', ''].join('\r\n');
const sized = (status: string, body: string, ...fields: string[]) =>
  head(status, `content-length: ${body.length}`, ...fields) + body;
const question = (other: object) => sized('200 OK', JSON.stringify({ ...QUESTION, ...other }));
/** Deeper than a parser can go. */
const NESTED = '['.repeat(200_000);
const chunked = (...chunks: string[]) =>
  head('200 OK', 'Transfer-Encoding: chunked') +
  chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');

/** A server that sends the same bytes to whatever it is asked, and then ends the connection unless it `holds` it. */
async function serving(bytes: string, { holds = false, drips = false } = {}) {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', (data) => {
      asked.push(data.toString());
      if (drips) dripTo(socket, bytes);
      else if (holds) socket.write(bytes);
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

/** A byte each 20 ms, which is more often than the client's limit for one wait. */
function dripTo(socket: Socket, bytes: string): void {
  let sent = 0;
  const timer = setInterval(() => {
    socket.write(bytes.charAt(sent));
    sent += 1;
    if (sent === bytes.length) socket.end();
  }, 20);
  socket.on('close', () => clearInterval(timer));
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

  const calling = (name: string) => (baseUrl: string, client: 'sync' | 'async') =>
    python.call(name, { client, baseUrl, token: 'secret', args: ['el_1'] });
  const get = calling('get');

  it.each([
    ['a length', sized('200 OK', ELICITATION)],
    ['chunks', chunked(ELICITATION.slice(0, 9), ELICITATION.slice(9), '')],
    ['an end', head('200 OK') + ELICITATION],
    ['an interim reply', head('100 Continue') + sized('200 OK', ELICITATION)],
    [
      'hints before it',
      head('103 Early Hints', 'link: </a.css>') + head('102 Processing') + sized('200 OK', ELICITATION),
    ],
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
    ['a code of a newer server', problem(409, { code: 'brand_new' }), 'brand_new', 409],
    ['errors of another API', problem(400, { detail: 'No.', errors: ['x', 1] }), 'invalid_request', 400],
    ['a problem without end', problem(400, NESTED), 'invalid_request', 400],
    ['JSON without end', sized('200 OK', NESTED), 'internal', 200],
    ['a question without its deadline', question({ expiresAt: undefined }), 'internal', null],
    ['a question with a deadline in words', question({ expiresAt: 'soon' }), 'internal', null],
    ['a question whose times differ in kind', question({ serverTime: '2026-01-15' }), 'internal', null],
  ] as const)('%s', async (_, bytes, code, status) => {
    const { url } = await serving(bytes);
    for (const client of CLIENTS) {
      const { error } = await calling('outcome_of')(url, client);
      expect(error, client).toMatchObject({ code, status });
      expect(error?.message ?? '').not.toContain('secret');
    }
  });

  it.each([
    ['pending', 'status=pending'],
    [['pending', 'opened'], 'status=pending%2Copened'],
    [[], undefined],
  ])('lists those with the status %j', async (status, query) => {
    const { url, asked } = await serving(sized('200 OK', '{"elicitations": []}'));
    for (const client of CLIENTS)
      expect(
        (await python.call('list', { client, baseUrl: url, token: 'secret', kwargs: { status } })).value,
      ).toEqual([]);
    for (const request of asked)
      expect(request).toContain(query === undefined ? '/elicitations HTTP' : `?${query} HTTP`);
    expect(asked).toHaveLength(CLIENTS.length);
  });

  it('follows no redirect, which would take the token elsewhere', async () => {
    const other = await serving(sized('200 OK', ELICITATION));
    const { url } = await serving(sized('307 Moved', '', `location: ${other.url}`));
    for (const client of CLIENTS) expect((await get(url, client)).error?.status).toBe(307);
    expect(other.asked).toEqual([]);
  });

  it('gives up on a server that sends its head or its body byte by byte', async () => {
    for (const bytes of [
      head('200 OK', ...Array<string>(90).fill('x-more: x')),
      sized('200 OK', ELICITATION),
    ]) {
      const { url } = await serving(bytes, { drips: true });
      const replies = Promise.all(CLIENTS.map((client) => get(url, client)));
      for (const { error } of await replies) expect(error?.code).toBe('unavailable');
    }
  });

  it('gives up on a server that never replies, and on one that never ends its reply', async () => {
    for (const bytes of ['', head('200 OK', 'content-length: 999')]) {
      const { url } = await serving(bytes, { holds: true });
      for (const client of CLIENTS) expect((await get(url, client)).error?.code, client).toBe('unavailable');
    }
  });

  it('refuses to verify a webhook with a secret that is empty or short, which anybody could sign with', async () => {
    const timestamp = Math.floor(Date.now() / 1_000);
    const signed = { webhookId: 'msg_1', timestamp, body: '{}', secrets: [Buffer.from('')] };
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': `${timestamp}`,
      'webhook-signature': signatureOf(signed),
    };
    for (const secret of ['', 'whsec_', 'whsec_c2hvcnQ=', 'whsec_?'])
      expect((await python.call('verify', { args: [secret, headers, '{}'] })).error?.code, secret).toBe(
        'invalid_request',
      );
  });

  it('says which address cannot be reached, and refuses what is none', async () => {
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    for (const client of CLIENTS)
      expect((await get(nowhere, client)).error).toMatchObject({
        code: 'unavailable',
        message: `Parley cannot be reached at ${nowhere}.`,
      });
    for (const url of [
      'ftp://example.com',
      'https://ada:secret@example.com',
      'example.com',
      'http://a:b',
      'http://a?b',
      'http://a#b',
      'http://a/ü',
      'http://ü',
    ])
      for (const client of CLIENTS)
        expect((await get(url, client)).error, url).toMatchObject({ code: 'invalid_request' });
  });
}

function problem(status: number, body: object | string): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return sized(`${status} Refused`, text, 'content-type: application/problem+json');
}
