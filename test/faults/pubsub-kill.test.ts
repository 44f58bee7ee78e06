import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkHistory } from '../harness/history/check-history.ts';
import type { ResourcesEvent } from '../harness/history/events.ts';
import { formatReport } from '../harness/history/report.ts';
import { pickFetch } from '../harness/http/pick-fetch.ts';
import { createSettleLoad } from '../harness/load/settle-load.ts';
import { prove, SIZE } from '../harness/load/size.ts';
import { connectionsTo, liveBytes, REPORTS_MEMORY } from '../harness/processes/resources.ts';
import { sized } from '../harness/proof-size.ts';
import { redisCommand } from '../harness/redis/redis-command.ts';
import { clientsNamed } from '../harness/site/redis-monitor.ts';
import { openSite, type Site, type SitePod } from '../harness/site/site.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** Name of the connections that every pod opens to Redis. */
const CONNECTIONS = ['parley-commands', 'parley-timers', 'parley-subscriber'];

const KILLS = sized(400, 8);

let site: Site;
let pods: SitePod[];

beforeAll(async () => {
  site = await openSite();
  // The ends are read from the list, which must hold all of them.
  pods = await Promise.all(
    Array.from({ length: sized(3, 2) }, () =>
      site.pod({ PARLEY_LIMIT_USER_HISTORY: '1000000' }, { nodeArgs: REPORTS_MEMORY }),
    ),
  );
});
afterAll(() => site?.stop());

it(`all subscriptions are killed again and again during ${SIZE.settles} settles: nothing is lost, duplicated or early`, async () => {
  const port = Number(new URL(site.redis.url).port);
  const note = async (label: 'before' | 'after') => {
    await untilConnected();
    for (const [index, pod] of pods.entries()) {
      const held = { liveBytes: await liveBytes(pod), sockets: await connectionsTo(pod, port) };
      const source = `pod ${index}`;
      load.history.record({ type: 'resources', label, source, ...held, at: performance.now() });
    }
  };
  const connections = async () =>
    (await Promise.all(CONNECTIONS.map((name) => clientsNamed(site.redis.url, name)))).map(
      ({ length }) => length,
    );
  const untilConnected = () =>
    waitUntil(async () => (await connections()).every((count) => count === pods.length), {
      what: 'all connections of all pods',
    });
  await untilConnected();
  let killed = 0;
  const kill = async () => {
    killed += await waitUntil(
      async () => Number(await redisCommand(site.redis.url, 'CLIENT', 'KILL', 'TYPE', 'pubsub')),
      { what: 'subscriptions to kill' },
    );
  };
  const kills = Array.from({ length: KILLS }, () => kill);
  const load = createSettleLoad({
    fetch: pickFetch(pods.map(({ url }) => url)),
    settles: SIZE.settles,
    askers: sized(150, 40),
    // The load has warmed up by then.
    faults: kills.toSpliced(KILLS / 4, 0, () => note('before')),
  });
  await load.run();
  await note('after');
  const connected = await connections();
  const report = checkHistory(load.history.events);
  const held = load.history.events.flatMap((each) =>
    each.type === 'resources' ? [describeResources(each)] : [],
  );
  prove(
    'Subscriptions killed again and again during settles',
    `${KILLS} rounds, ${killed} connections killed; ${connected.join(' + ')} connections to Redis after\n${held.join('\n')}\n${formatReport(report)}`,
  );
  expect(report.violations, formatReport(report)).toEqual([]);
  expect(report.counts.waits).toBe(SIZE.settles);
  expect(load.settled()).toBe(SIZE.settles);
  expect(killed).toBeGreaterThanOrEqual(KILLS);
  expect(Math.max(...connected)).toBeLessThanOrEqual(pods.length);
});

function describeResources({ source, label, liveBytes: held = 0, sockets }: ResourcesEvent): string {
  return `${source} ${label}: ${Math.round(held / 1e6)} MB live, ${sockets} sockets`;
}
