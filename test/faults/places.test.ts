import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { ChaosProxy } from '../harness/chaos/proxy.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { newOwner, tokenOf } from './pod-client.ts';
import { countStreams } from './redis-monitor.ts';
import { openSite, type Site, type SitePod } from './site.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 });

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
  // The slot is granted late, so that the reader has disconnected by then.
  proxy.delay(300);
  for (let reader = 0; reader < PLACES; reader += 1) {
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(head, () => socket.destroy());
      });
      socket.once('close', () => resolve());
    });
  }
  await waitUntil(async () => (await countStreams(site.redis.url, owner)) === PLACES, {
    what: 'all slots to be taken',
    everyMs: 5,
  });
  await proxy.heal();
  const open = async () => {
    const leaving = new AbortController();
    const response = await fetch(`${pod.url}/v1/inbox/events`, {
      headers: { authorization: `Bearer ${token}` },
      signal: leaving.signal,
    });
    const { status } = response;
    leaving.abort();
    await response.body?.cancel().catch(() => undefined);
    return status === 200;
  };
  // Sooner than the slot's lease would lapse.
  expect(await waitUntil(open, { what: 'a free slot', timeoutMs: 20_000 })).toBe(true);
});
