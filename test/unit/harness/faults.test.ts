import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ChaosProxy, createChaosProxy } from '../../harness/chaos/proxy.ts';
import { createRequestBoundary } from '../../harness/http/request-boundary.ts';
import { suiteNotRun } from '../../harness/not-run.ts';
import { fakeTime } from '../../harness/processes/faketime.ts';
import { startProcess } from '../../harness/processes/processes.ts';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import { watchCommands } from '../../harness/redis/redis-monitor.ts';
import { type RedisServer, startRedis } from '../../harness/redis/redis-server.ts';
import { waitUntil } from '../../harness/wait-until.ts';

// Here are the faults which a test would pass without, if they did nothing. A test that needs any other fault fails when the
// fault does not happen.

let server: RedisServer;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server?.stop());

const direct = (...command: [string, ...(string | number)[]]) => redisCommand(server.port, ...command);

describe('createChaosProxy', () => {
  let proxy: ChaosProxy;
  const clients: Redis[] = [];

  beforeEach(async () => {
    await direct('FLUSHALL');
    proxy = await createChaosProxy({ targetPort: server.port });
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.disconnect();
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
  /** Whether a reply has come after so long that one of a whole connection would have come. */
  const watch = (reply: Promise<unknown>) => {
    const seen = { replied: false };
    const note = () => {
      seen.replied = true;
    };
    reply.then(note, note);
    return seen;
  };
  /** Another connection of the proxy, opened later, has had replies in both directions. */
  const untilOthersPassed = async () => {
    const other = await connect();
    for (let call = 0; call < 20; call += 1) await other.ping();
  };

  it.each([
    ['both', null],
    ['toClient', '1'],
    ['toServer', null],
  ] as const)('makes a connection half-open (%s), and leaves new ones alone', async (direction, counted) => {
    const old = await connect();
    proxy.blackhole({ existing: true, fresh: false, direction });
    const lost = old.incr('n');
    const seen = watch(lost);
    await untilOthersPassed();
    if (counted !== null)
      await waitUntil(async () => (await direct('GET', 'n')) === counted, { what: 'the command' });
    expect([seen.replied, old.status, await direct('GET', 'n')]).toEqual([false, 'ready', counted]);
    await proxy.heal();
    await expect(lost).rejects.toThrow();
  });

  it('keeps a close from crossing a half-open connection', async () => {
    const old = await connect();
    const id = await old.client('ID');
    proxy.killOld();
    await direct('CLIENT', 'KILL', 'ID', id);
    await untilOthersPassed();
    expect(old.status).toBe('ready');
  });

  it('loses the reply of exactly the marked request, which runs', async () => {
    const client = await connect();
    const other = await connect();
    const cut = proxy.cutAfterNextRequest(/settle-\d+/);
    await client.incr('before');
    const sent = client.multi().set('settle-1', 'x'.repeat(2_000_000)).incr('second').exec();
    await expect(sent).rejects.toThrow();
    expect(await cut).toBe(true);
    expect([await direct('STRLEN', 'settle-1'), await direct('GET', 'second')]).toEqual([2_000_000, '1']);
    expect(await other.incr('before')).toBe(2);
    const never = proxy.cutAfterNextRequest('never sent');
    await proxy.heal();
    expect(await never).toBe(false);
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

describe('watchCommands', () => {
  it('reports every command exactly as it was sent, those of scripts too', async () => {
    const seen: (readonly string[])[] = [];
    const stop = await watchCommands(server.url, (args) => seen.push(args));
    const odd = 'a "quoted" \\ line\r\nü\x00\x07';
    await direct('SET', 'key', odd);
    await direct('EVAL', "return redis.call('GET', KEYS[1])", 1, 'key');
    await waitUntil(() => seen.some(([name]) => name?.toUpperCase() === 'GET'), {
      what: 'the command of the script',
    });
    expect(seen).toContainEqual(['SET', 'key', odd]);
    stop();
  });
});

function fakeTimeTests(): void {
  it('shifts the clock of one process, either way, and takes signals', async () => {
    for (const offset of [3_600, -3_600]) {
      const fake = await fakeTime(offset);
      if (!fake) throw new Error('faketime gave no library');
      const pod = await startProcess({
        name: 'pod',
        entry: 'test/harness/fixtures/echo-pod.ts',
        readyWhen: (line) => line.listening === true,
        ...fake,
      });
      const shift = Math.round((Number(pod.ready.now) - Date.now()) / 60_000);
      expect(shift).toBe(offset / 60);
      pod.kill('SIGKILL');
      expect(await pod.exited).toEqual({ code: null, signal: 'SIGKILL' });
    }
  });
}

// Installed where that is allowed; where it is not, there is nothing to test.
if ((await fakeTime(0)) === undefined)
  suiteNotRun('fakeTime', 'no faketime on the path, and none can be installed');
else describe('fakeTime', fakeTimeTests);
