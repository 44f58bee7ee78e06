import { connect } from 'node:net';
import { limitKey } from '@parley/shared/redis/client/keys';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ChaosProxy } from '../harness/chaos/proxy.ts';
import { redisCommand } from '../harness/redis/redis-command.ts';
import { watchCommands } from '../harness/redis/redis-monitor.ts';
import { newOwner, tokenOf } from '../harness/site/pod-client.ts';
import { countStreams } from '../harness/site/redis-monitor.ts';
import { openSite, type Site, type SitePod } from '../harness/site/site.ts';
import { waitUntil } from '../harness/wait-until.ts';

const PLACES = 3;

let site: Site;
let proxy: ChaosProxy;
let pod: SitePod;

beforeAll(async () => {
  site = await openSite();
  proxy = await site.proxy();
  pod = await site.pod({ PARLEY_LIMIT_USER_STREAMS: String(PLACES), REDIS_URL: proxy.url });
});
afterAll(() => site?.stop());

it('readers that disconnect before their stream begins release their stream slots', async () => {
  const owner = newOwner();
  const token = await tokenOf(owner);
  const { hostname, port } = new URL(pod.url);
  const head = `GET /v1/inbox/events HTTP/1.1\r\nhost: pod\r\nauthorization: Bearer ${token}\r\n\r\n`;
  const [taken, released] = [new Set<unknown>(), new Set<unknown>()];
  const stopWatching = await watchCommands(site.redis.url, ([name = '', key, ...rest]) => {
    if (key !== limitKey('streams', owner)) return;
    if (name.toLowerCase() === 'zadd') taken.add(rest[1]);
    if (name.toLowerCase() === 'zrem') released.add(rest[0]);
  });
  // The slot is granted late, so that the reader has disconnected by then.
  proxy.delay(300);
  for (let reader = 0; reader < PLACES; reader += 1) {
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => void socket.write(head));
      // A reader that leaves before its opening has begun takes no slot.
      proxy.beforeNextRequest(limitKey('streams', owner), () => socket.destroy());
      socket.once('close', () => resolve());
    });
    // The next command with this key is that of the next reader.
    await waitUntil(() => released.size === reader + 1, { what: 'the slot to be released' });
  }
  await proxy.heal();
  stopWatching();
  expect(released).toEqual(taken);
  expect(await countStreams(site.redis.url, owner)).toBe(0);
});

it('the stream slots of a pod that was killed are free as soon as its lease has lapsed', async () => {
  const owner = newOwner();
  const env = { PARLEY_LIMIT_USER_STREAMS: String(PLACES), PARLEY_LEASE_MS: '10000' };
  const [killed, next] = [await site.pod(env), await site.pod(env)];
  const headers = { authorization: `Bearer ${await tokenOf(owner)}` };
  const open = async (url: string) => {
    const leaving = new AbortController();
    const response = await fetch(`${url}/v1/inbox/events`, { headers, signal: leaving.signal });
    return { status: response.status, leave: () => leaving.abort() };
  };
  const before = await Promise.all(Array.from({ length: PLACES }, () => open(killed.url)));
  expect(before.map(({ status }) => status)).toEqual(before.map(() => 200));
  expect((await open(next.url)).status).toBe(429);
  await killed.kill('SIGKILL');
  await killed.exited;
  // The slots themselves would last 45 s; now only the lease of their pod can free them, however long that takes.
  const key = limitKey('streams', owner);
  const slots = (await redisCommand(site.redis.url, 'ZRANGE', key, 0, -1)) as string[];
  expect(slots).toHaveLength(PLACES);
  for (const slot of slots)
    await redisCommand(site.redis.url, 'ZADD', key, 'XX', Number.MAX_SAFE_INTEGER, slot);
  await redisCommand(site.redis.url, 'PERSIST', key);
  const after = await waitUntil(
    async () => {
      const reader = await open(next.url);
      return reader.status === 200 && reader;
    },
    { what: 'a free slot', timeoutMs: 40_000 },
  );
  after.leave();
});
