import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isIPv4 } from 'node:net';
import { isLoopbackAddress, isPublicAddress } from '@parley/shared/net/address';
import {
  createGuardedFetch,
  type GuardOptions,
  mayBeCalled,
  pinnedLookup,
  type ResolvedAddress,
} from '@parley/shared/net/guarded-fetch';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { canary } from '../../harness/canary.ts';
import { listenOnFreePort } from '../../harness/free-port.ts';
import { sightings } from '../../harness/pages/sightings.ts';

const address = (text: string): ResolvedAddress => ({ address: text, family: isIPv4(text) ? 4 : 6 });

/** A server that counts; ends with the test. */
async function startTarget(
  reply: (req: IncomingMessage, res: ServerResponse) => void = (_req, res) => res.end('ok'),
) {
  const hits: string[] = [];
  const server = createServer((req, res) => {
    hits.push(req.url ?? '');
    reply(req, res);
  });
  const port = await listenOnFreePort(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port, hits, url: `http://127.0.0.1:${port}/` };
}

describe('an address', () => {
  // The private networks of IPv4 and what wraps them are below.
  test.each([
    ...['100.100.100.200', '168.63.129.16', '192.0.0.192', '198.18.0.1', '198.19.255.255', '203.0.113.5'],
    ...['::', '::1', '64:ff9b:1::1', 'fc00::1', 'fd00:ec2::254', 'fe80::1', 'fe80::1%eth0', 'fec0::1'],
    ...['ff02::1', '2002:7f00:1::', '2001::1', '2001:db8::1', '3fff::1', '4000::1', '2a00:1450::1%eth0'],
    ...['localhost', '', '127.1', '0x7f.1', '1.2.3', '1.2.3.4.5'],
  ])('%s is not public', (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });

  test.each([
    ...['1.1.1.1', '100.63.255.255', '100.128.0.1', '172.15.255.255', '172.32.0.1', '223.255.255.255'],
    ...['2606:4700::1111', '2a00:1450:4001:81c::200e', '2003::1'],
  ])('%s is public', (text) => {
    expect(isPublicAddress(text)).toBe(true);
  });

  const octet = fc.nat(255);
  const group = fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16));
  const groups = (count: number) => fc.array(group, { minLength: count, maxLength: count });

  test('in a private network is never public, whatever its last parts [SEC-14]', () => {
    const networks = fc.oneof(
      fc.tuple(fc.constantFrom(0, 10, 127), octet, octet, octet),
      fc.tuple(fc.integer({ min: 224, max: 255 }), octet, octet, octet),
      fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), octet, octet),
      fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), octet, octet),
      fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
      fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
    );
    fc.assert(fc.property(networks, (parts) => !isPublicAddress(parts.join('.'))));
  });

  test('that wraps an IPv4 address in an IPv6 one is never public', () => {
    const wrappers = fc.constantFrom('::ffff:', '::', '64:ff9b::', '64:ff9b:1::', '::ffff:0:', 'fe80::5efe:');
    const dotted = fc.tuple(octet, octet, octet, octet).map((parts) => parts.join('.'));
    fc.assert(fc.property(wrappers, dotted, (wrapper, inner) => !isPublicAddress(`${wrapper}${inner}`)));
  });

  test('outside global unicast is never public, however it is written', () => {
    const first = fc.integer({ min: 0, max: 0xffff }).filter((value) => value >> 13 !== 1);
    fc.assert(
      fc.property(first, groups(7), fc.boolean(), (head, rest, upper) => {
        const text = [head.toString(16), ...rest].join(':');
        return !isPublicAddress(upper ? text.toUpperCase() : text);
      }),
    );
  });

  test('is loopback in all its spellings, and nothing else is', () => {
    for (const text of ['127.0.0.1', '127.8.9.1', '::1', '0:0:0:0:0:0:0:1', '0::1'])
      expect(isLoopbackAddress(text)).toBe(true);
    for (const text of ['128.0.0.1', '::2', '::ffff:127.0.0.1', '0.0.0.0', '::', 'localhost'])
      expect(isLoopbackAddress(text)).toBe(false);
    fc.assert(fc.property(fc.ipV4(), (text) => isLoopbackAddress(text) === text.startsWith('127.')));
  });
});

describe('a guarded call', () => {
  const fetchFor = (resolved: readonly string[], options: GuardOptions = {}) =>
    createGuardedFetch({ resolve: async () => resolved.map(address), ...options });

  test.each([
    ['http://example.com/', 'refused_url'],
    ['file:///etc/passwd', 'refused_url'],
    ['javascript:alert(1)', 'refused_url'],
    ['https://user:secret@example.com/', 'refused_url'],
    ['not a url', 'refused_url'],
    ['https://127.0.0.1/', 'refused_address'],
    ['https://2130706433/', 'refused_address'],
    ['https://[::1]/', 'refused_address'],
    ['https://[::ffff:a9fe:a9fe]/', 'refused_address'],
    ['https://[64:ff9b::a00:1]/', 'refused_address'],
    ['https://localhost/', 'refused_address'],
    ['https://169.254.169.254/latest/meta-data', 'refused_address'],
    ['https://10.0.0.1/', 'refused_address'],
    ['https://①②⑦.0.0.1/', 'refused_address'],
  ])('to %s is refused', async (url, code) => {
    await expect(createGuardedFetch()({ url })).rejects.toMatchObject({ code });
    expect(mayBeCalled(url)).toBe(false);
  });

  test.each([
    ['loopback', ['127.0.0.1']],
    ['a private network', ['10.0.0.5']],
    ['the metadata service', ['169.254.169.254']],
    ['a mapped address', ['::ffff:10.0.0.5']],
    ['one bad address among good ones', ['93.184.216.34', '10.0.0.5']],
  ])('to a name that leads to %s is refused', async (_what, resolved) => {
    for (const allowLoopback of [false, true]) {
      const call = fetchFor(resolved, { allowLoopback })({ url: 'https://api.example.com/' });
      await expect(call).rejects.toMatchObject({ code: 'refused_address' });
    }
  });

  test('to a name that leads nowhere fails', async () => {
    await expect(fetchFor([])({ url: 'https://api.example.com/' })).rejects.toMatchObject({
      code: 'unresolved',
    });
    const resolve = () => Promise.reject(new Error('no such name'));
    const call = createGuardedFetch({ resolve })({ url: 'https://api.example.com/' });
    await expect(call).rejects.toMatchObject({ code: 'unresolved' });
  });

  test('to loopback reaches it only in development', async () => {
    const target = await startTarget();
    await expect(createGuardedFetch()({ url: target.url })).rejects.toMatchObject({
      code: 'refused_address',
    });
    expect(target.hits).toEqual([]);
    const reply = await createGuardedFetch({ allowLoopback: true, timeoutMs: 60_000 })({
      url: `${target.url}path?q=1`,
    });
    expect([reply.status, reply.body.toString(), target.hits]).toEqual([200, 'ok', ['/path?q=1']]);
  });

  test('resolves the name once and connects to that address, so DNS rebinding has no effect [SEC-13]', async () => {
    const target = await startTarget();
    const answers = [['127.0.0.1'], ['127.0.0.2'], ['10.0.0.1']];
    let asked = 0;
    const resolve = async () => (answers[asked++] ?? []).map(address);
    const guarded = createGuardedFetch({ allowLoopback: true, timeoutMs: 60_000, resolve });
    expect((await guarded({ url: `http://localhost:${target.port}/` })).status).toBe(200);
    expect(asked).toBe(1);
    // The next call resolves the name again, and reuses no connection.
    await expect(guarded({ url: `http://localhost:${target.port}/` })).rejects.toMatchObject({
      code: 'failed',
    });
    await expect(guarded({ url: `http://localhost:${target.port}/` })).rejects.toMatchObject({
      code: 'refused_address',
    });
    expect(target.hits).toEqual(['/']);
  });

  test('pins the checked addresses, one or many', () => {
    const pinned = pinnedLookup([address('93.184.216.34'), address('2606:4700::1111')]);
    const resolved: unknown[] = [];
    pinned('127.0.0.1.rebind.example', { all: true }, (...args) => void resolved.push(args));
    pinned('127.0.0.1.rebind.example', {}, (...args) => void resolved.push(args));
    expect(resolved).toEqual([
      [null, [address('93.184.216.34'), address('2606:4700::1111')]],
      [null, '93.184.216.34', 4],
    ]);
  });

  test('follows no redirect [SEC-14]', async () => {
    const inner = await startTarget();
    const target = await startTarget((_req, res) => res.writeHead(302, { location: inner.url }).end());
    const reply = await createGuardedFetch({ allowLoopback: true, timeoutMs: 60_000 })({ url: target.url });
    expect([reply.status, inner.hits]).toEqual([302, []]);
  });

  test('ends when the answer is too long, or too late', async () => {
    const long = await startTarget((_req, res) => res.end('x'.repeat(70_000)));
    const patient = createGuardedFetch({ allowLoopback: true, timeoutMs: 60_000 });
    await expect(patient({ url: long.url })).rejects.toMatchObject({ code: 'too_large' });
    const guarded = createGuardedFetch({ allowLoopback: true, timeoutMs: 300 });
    const silent = await startTarget(() => undefined);
    await expect(guarded({ url: silent.url })).rejects.toMatchObject({ code: 'timeout' });
    const slow = await startTarget((_req, res) => res.writeHead(200).write('a'));
    await expect(guarded({ url: slow.url })).rejects.toMatchObject({ code: 'timeout' });
    let lookUp: AbortSignal | undefined;
    const resolve = (_host: string, signal: AbortSignal) => {
      lookUp = signal;
      return new Promise<never>(() => undefined);
    };
    const stuck = createGuardedFetch({ resolve, timeoutMs: 300 });
    await expect(stuck({ url: 'https://api.example.com/' })).rejects.toMatchObject({ code: 'timeout' });
    // A name lookup that is no longer needed is aborted.
    expect(lookUp?.aborted).toBe(true);
  });

  test('may ignore the body: the call ends with its status', async () => {
    const guarded = createGuardedFetch({ allowLoopback: true, body: 'ignored', timeoutMs: 100_000 });
    const left: Promise<unknown>[] = [];
    const answers = [
      [200, (res: ServerResponse) => res.end('x'.repeat(70_000))],
      [202, (res: ServerResponse) => res.writeHead(202).write('a')],
      [
        201,
        (res: ServerResponse) =>
          res.writeHead(201, { 'content-length': '10' }).write('a', () => res.destroy()),
      ],
    ] as const;
    for (const [status, answer] of answers) {
      const target = await startTarget((_req, res) => {
        left.push(once(res, 'close'));
        answer(res);
      });
      const reply = await guarded({ url: target.url });
      expect([reply.status, reply.body.length]).toEqual([status, 0]);
    }
    // Nothing more is sent after the end.
    await Promise.all(left);
    // Without a status there is nothing to stand.
    const impatient = createGuardedFetch({ allowLoopback: true, body: 'ignored', timeoutMs: 300 });
    const silent = await startTarget(() => undefined);
    await expect(impatient({ url: silent.url })).rejects.toMatchObject({ code: 'timeout' });
  });

  test.each(['read', 'ignored'] as const)(
    'ends when the reply switches protocols (body %s)',
    async (body) => {
      const target = await startTarget((_req, res) => {
        res.socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
      });
      const guarded = createGuardedFetch({ allowLoopback: true, body, timeoutMs: 100_000 });
      await expect(guarded({ url: target.url })).rejects.toMatchObject({ code: 'failed' });
    },
  );

  test('is allowed to a public name, and in development to loopback', () => {
    for (const url of ['https://api.example.com/', 'https://8.8.8.8/', 'https://[2606:4700::1111]:8443/'])
      expect(mayBeCalled(url)).toBe(true);
    for (const url of ['http://localhost/', 'http://127.0.0.1:8080/', 'https://[::1]/']) {
      expect(mayBeCalled(url)).toBe(false);
      expect(mayBeCalled(url, { allowLoopback: true })).toBe(true);
    }
    expect(mayBeCalled('https://10.0.0.1/', { allowLoopback: true })).toBe(false);
  });

  test('fails with no data of the call in the error', async () => {
    const secret = canary('header');
    const guarded = createGuardedFetch({ allowLoopback: true, timeoutMs: 60_000 });
    const target = await startTarget();
    const headers = { authorization: `Bearer ${secret}\r\nx: y` };
    const error = await guarded({ url: `${target.url}?key=${secret}`, headers }).catch(
      (caught: unknown) => caught,
    );
    expect(error).toMatchObject({ name: 'GuardedFetchError', code: 'failed' });
    expect(sightings(secret, error, String(error), error instanceof Error ? error.stack : '')).toEqual([]);
    expect(target.hits).toEqual([]);
  });
});
