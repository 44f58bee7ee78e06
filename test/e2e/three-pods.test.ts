import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkHistory } from '../harness/history/check-history.ts';
import { formatReport } from '../harness/history/report.ts';
import { pickFetch } from '../harness/http/pick-fetch.ts';
import { createLoad } from '../harness/load/run-load.ts';
import { prove, SIZE } from '../harness/load/size.ts';
import { paced } from '../harness/pace.ts';
import { sized } from '../harness/proof-size.ts';
import { DEFAULTS, openSite, type Site, type SitePod } from '../harness/site/site.ts';
import { waitUntil } from '../harness/wait-until.ts';

const RETENTION_SECONDS = 20;
// Kept as long as pods and workers run: heartbeats, and the turns that they take at maintenance. A chosen stream id is
// claimed for longer than the retention, on purpose, and `names` lists it for an erasure. The armed deadline of a bucket stays
// until it has passed.
const STANDING = /:(armed|names:.*|canary|pods|pod:[^:]+|audit-(lease|done):[^:]+|claim:(stream|sweep):.*)$/;

let site: Site;
let pods: SitePod[];

beforeAll(async () => {
  site = await openSite();
  const env = { ...DEFAULTS, PARLEY_RETENTION_SECONDS: String(RETENTION_SECONDS * SIZE.patience) };
  await site.worker(env);
  pods = await Promise.all([0, 1, 2].map(() => site.pod(env)));
});
afterAll(() => site?.stop());

it('three pods, a random one for every request: each question ends once, and nothing is lost, duplicated or leaked', async () => {
  const client = new Redis(site.redis.url);
  const load = createLoad({
    fetch: pickFetch(pods.map((pod) => pod.url)),
    elicitations: SIZE.elicitations,
    askers: sized(50, 20),
    users: sized(20, 3),
  });
  const sample = async (label: 'before' | 'after') => {
    const channels = (await client.pubsub('CHANNELS', 'parley:*')) as string[];
    const keys = (await client.keys('parley:{b*')).filter((key) => !STANDING.test(key)).length;
    load.history.record({
      type: 'resources',
      label,
      source: 'redis',
      keys,
      channels: channels.filter((channel) => !channel.includes(':probe:')),
      at: performance.now(),
    });
    return keys;
  };
  await sample('before');
  await load.run();
  // After the retention only the claims of chosen stream ids may remain; they outlive it on purpose.
  const remainingKeys = async () => (await client.keys('parley:{b*')).filter((key) => !STANDING.test(key));
  await waitUntil(async () => (await remainingKeys()).length === 0, {
    timeoutMs: RETENTION_SECONDS * SIZE.patience * 1000 + 60_000,
    everyMs: 500,
    what: 'all keys of ended elicitations to be deleted',
  });
  await sample('after');
  await client.quit();
  const report = checkHistory(load.history.events, { graceMs: paced(6_000) });
  prove('Three pods, random pod for every request', formatReport(report));
  expect(report.violations, formatReport(report)).toEqual([]);
  expect(report.counts.acked).toBe(SIZE.elicitations);
});
