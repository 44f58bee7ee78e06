import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ChaosProxy, createChaosProxy } from '../../harness/chaos/proxy.ts';
import { createRequestBoundary } from '../../harness/http/request-boundary.ts';
import { redisCommand, withRedis } from '../../harness/redis/redis-command.ts';
import { type RedisServer, startRedis } from '../../harness/redis/redis-server.ts';
import { waitUntil } from '../../harness/wait-until.ts';

vi.setConfig({ testTimeout: 30_000 });

/** Long enough for any reply that is on its way over loopback; only ever used to see that none comes. */
const SILENCE_MS = 400;

describe('createChaosProxy', () => {
  let server: RedisServer;
  let proxy: ChaosProxy;
  let clients: Redis[] = [];

  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    await redisCommand(server.port, 'FLUSHALL');
    proxy = await createChaosProxy({ targetPort: server.port });
  });
  afterEach(async () => {
    for (const client of clients) client.disconnect();
    clients = [];
    await proxy.close();
  });

  /** A connection that never comes back, so that what happens to it shows. */
  const connect = async () => {
    const client = new Redis(proxy.url, { retryStrategy: null, maxRetriesPerRequest: 0, lazyConnect: true });
    client.on('error', () => undefined);
    clients.push(client);
    await client.connect();
    return client;
  };
  const direct = (...command: [string, ...(string | number)[]]) => redisCommand(server.port, ...command);
  const connectRaw = async () => {
    const socket = connectTcp(proxy.port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  };
  const silent = async (reply: Promise<unknown>) => {
    const quiet = new Promise((resolve) => setTimeout(resolve, SILENCE_MS, 'silence'));
    return Promise.race([reply.catch((error: unknown) => error), quiet]);
  };

  it('passes large values and pipelines through unchanged', async () => {
    const client = await connect();
    const big = 'ä'.repeat(3_000_000);
    const replies = await client.pipeline().set('big', big).get('big').incr('n').exec();
    expect(replies?.map(([, reply]) => reply === big || reply)).toEqual(['OK', true, 1]);
  });

  it('loses the ack of exactly the marked request, which runs', async () => {
    const client = await connect();
    const other = await connect();
    const cut = proxy.cutAfterNextRequest('settle-me');
    await client.incr('before');
    await expect(client.call('INCR', 'settle-me')).rejects.toThrow();
    expect(await cut).toBe(true);
    expect(await direct('GET', 'settle-me')).toBe('1');
    expect(await direct('GET', 'before')).toBe('1');
    expect(await other.incr('settle-me')).toBe(2);
  });

  it('runs a marked request of several chunks, and the rest of its transaction', async () => {
    const client = await connect();
    const cut = proxy.cutAfterNextRequest(/first-\d+/);
    const sent = client.multi().set('first-1', 'x'.repeat(2_000_000)).incr('second').exec();
    await expect(sent).rejects.toThrow();
    expect(await cut).toBe(true);
    expect(await direct('STRLEN', 'first-1')).toBe(2_000_000);
    expect(await direct('GET', 'second')).toBe('1');
  });

  it('shows that a client which resends a cut command runs it twice', async () => {
    const client = new Redis(proxy.url);
    clients.push(client);
    client.on('error', () => undefined);
    await client.ping();
    const cut = proxy.cutAfterNextRequest('twice');
    expect(await client.incr('twice')).toBe(2);
    expect(await cut).toBe(true);
  });

  it('notifies a pending cut when healing came first', async () => {
    const cut = proxy.cutAfterNextRequest('never sent');
    await proxy.heal();
    expect(await cut).toBe(false);
  });

  it('resets existing connections and accepts new ones', async () => {
    const client = await connect();
    const ended = new Promise((resolve) => client.once('end', resolve));
    proxy.reset();
    await ended;
    expect(await (await connect()).ping()).toBe('PONG');
  });

  it('makes old connections half-open permanently while new ones work', async () => {
    const old = await connect();
    proxy.killOld();
    const lost = old.incr('n');
    expect(await silent(lost)).toBe('silence');
    const fresh = await connect();
    expect(await fresh.incr('n')).toBe(1);
    expect(old.status).toBe('ready');
    await proxy.heal();
    await expect(lost).rejects.toThrow();
    expect(await fresh.incr('n')).toBe(2);
  });

  it('keeps a close from crossing a half-open connection', async () => {
    const old = await connect();
    const id = await old.client('ID');
    proxy.killOld();
    await direct('CLIENT', 'KILL', 'ID', id);
    expect(await silent(old.ping())).toBe('silence');
    expect(old.status).toBe('ready');
  });

  it('keeps a reset from crossing a half-open connection, either way', async () => {
    const leaving = await connectRaw();
    leaving.write('CLIENT SETNAME left-behind\r\n');
    await once(leaving, 'data');
    proxy.killOld();
    leaving.resetAndDestroy();
    await waitUntil(() => proxy.connections() === 0, { what: 'the proxy to see that the client went' });
    expect(await direct('CLIENT', 'LIST')).toContain('name=left-behind');

    proxy.blackhole({ existing: false, fresh: true, direction: 'toClient' });
    const staying = await connectRaw();
    await server.kill9();
    // A dead server's system answers this with a reset.
    staying.write('PING\r\n');
    await server.restart();
    staying.write('PING\r\n');
    expect(await silent(once(staying, 'close'))).toBe('silence');
    staying.destroy();
  });

  it('drops replies only, or requests only', async () => {
    const client = await connect();
    proxy.blackhole({ existing: true, fresh: false, direction: 'toClient' });
    expect(await silent(client.incr('replies dropped'))).toBe('silence');
    expect(await direct('GET', 'replies dropped')).toBe('1');
    const other = await connect();
    proxy.blackhole({ existing: true, fresh: false, direction: 'toServer' });
    expect(await silent(other.incr('requests dropped'))).toBe('silence');
    expect(await direct('GET', 'requests dropped')).toBe(null);
  });

  it('accepts fresh connections into a black hole and frees the port of them when healed', async () => {
    proxy.blackhole({ existing: true, fresh: true });
    await expect(withRedis(proxy.port, (redis) => redis.ping(), SILENCE_MS)).rejects.toThrow();
    await proxy.heal();
    expect(await (await connect()).ping()).toBe('PONG');
    await waitUntil(() => proxy.connections() === 1, { what: 'only the new connection to be left' });
  });

  it('refuses new connections and keeps old ones open', async () => {
    const client = await connect();
    await proxy.refuse(true);
    await expect(redisCommand(proxy.port, 'PING')).rejects.toThrow('ECONNREFUSED');
    expect(await client.ping()).toBe('PONG');
    await proxy.refuse(false);
    expect(await redisCommand(proxy.port, 'PING')).toBe('PONG');
  });

  it('stalls without losing a byte, in order', async () => {
    const client = await connect();
    proxy.stall();
    const replies = Array.from({ length: 50 }, () => client.incr('n'));
    expect(await silent(Promise.race(replies))).toBe('silence');
    expect(await direct('GET', 'n')).toBe(null);
    proxy.resume();
    expect(await Promise.all(replies)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
  });

  it('holds back what was already delayed', async () => {
    const client = await connect();
    proxy.delay(SILENCE_MS / 2);
    const delayed = client.incr('n');
    const asked = new Promise((resolve) => setTimeout(resolve, SILENCE_MS / 4));
    await asked;
    proxy.stall();
    expect(await silent(delayed)).toBe('silence');
    expect(await direct('GET', 'n')).toBe(null);
    proxy.resume();
    expect(await delayed).toBe(1);
  });

  it('delays both ways and keeps the order when the delay ends', async () => {
    const client = await connect();
    proxy.delay(SILENCE_MS);
    const early = client.incr('n');
    expect(await silent(early)).toBe('silence');
    proxy.delay(0);
    expect(await Promise.all([early, client.incr('n')])).toEqual([1, 2]);
  });

  it('resets clients when Redis is down', async () => {
    const nowhere = await createChaosProxy({ targetPort: 1 });
    await expect(redisCommand(nowhere.port, 'PING')).rejects.toThrow();
    await waitUntil(() => nowhere.connections() === 0, { what: 'the refused connection to go' });
    await nowhere.close();
  });
});

describe('createRequestBoundary', () => {
  const encode = (args: string[]) =>
    `*${args.length}\r\n${args.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`).join('')}`;

  it('finds the end of a command however the bytes are split', () => {
    const commands = fc.array(fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 4 }), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(commands, fc.array(fc.nat(), { maxLength: 8 }), fc.boolean(), (list, cuts, whole) => {
        const bytes = Buffer.from(`PING\r\n${list.map(encode).join('')}${whole ? '' : '*1\r\n$4\r\nPIN'}`);
        const at = cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b);
        const boundary = createRequestBoundary();
        let from = 0;
        for (const to of [...at, bytes.length]) {
          boundary.feed(bytes.subarray(from, to));
          from = to;
        }
        return boundary.atBoundary() === whole;
      }),
    );
  });
});
