import { expect } from 'vitest';
import { checkHistory } from '../history/check-history.ts';
import { longestRefusalMs, type Outage } from '../history/refusals.ts';
import type { RuleName } from '../history/registry.ts';
import { formatReport, type Report } from '../history/report.ts';
import { pickFetch } from '../http/pick-fetch.ts';
import { LOAD_ENV } from '../load/load-env.ts';
import { createLoad } from '../load/run-load.ts';
import { createSettleLoad } from '../load/settle-load.ts';
import { prove, SIZE } from '../load/size.ts';
import { paced } from '../pace.ts';
import { startPod, startWorker } from '../processes/processes.ts';
import { sized } from '../proof-size.ts';
import type { RedisServer } from '../redis/redis-server.ts';
import { waitUntil } from '../wait-until.ts';
import { untilReady } from './site.ts';

/** Pods and a worker on a Redis of several servers. */
export interface Fleet {
  readonly urls: readonly string[];
  stop(): Promise<void>;
}

export interface Failover {
  /** What happens, for the report. */
  readonly name: string;
  /** Causes the failover; resolves when a new master is in charge. */
  readonly cause: () => Promise<unknown>;
  /** Brings the failed servers back; resolves when all servers are in sync again. */
  readonly heal: () => Promise<unknown>;
}

const AFTER = sized(200, 15);
const PODS = sized(3, 2);
const ASKERS = sized(60, 20);
/** How long calls may be refused once the servers are in order, in ms. */
const REFUSED_MAX_MS = paced(6_000);
/** Of each tenant. */
const USERS = sized(10, 3);

/**
 * How the loss of an acknowledged write appears to clients: replication is asynchronous, so a failover may lose some
 * writes, and Parley promises no more than Redis does. Every other promise holds throughout: no invented event, no
 * hanging caller, no early or late end, and no data of another person.
 */
const LOSS: readonly RuleName[] = ['I1', 'I2', 'I3', 'I4', 'I9', 'I12', 'I13', 'I16'];

export async function openFleet(env: Record<string, string>): Promise<Fleet> {
  const all = { ...LOAD_ENV, PARLEY_RECHECK_MS: '3000', PARLEY_SWEEP_MS: '3000', ...env };
  const worker = await startWorker(all);
  const pods = await Promise.all(Array.from({ length: PODS }, () => startPod(all)));
  return {
    urls: pods.map(({ url }) => url),
    async stop() {
      await Promise.all([...pods, worker].map((each) => each.stop()));
    },
  };
}

/** Resumes frozen servers and restarts dead ones. */
export async function bringBack(servers: readonly RedisServer[]): Promise<void> {
  for (const server of servers) {
    if (server.paused) server.resume();
    else if (!server.running) await server.restart();
  }
}

/** Runs a load through one failover after the other, counts what was lost, and then expects a faultless load. */
export async function throughFailovers(
  fleet: Fleet,
  title: string,
  failovers: readonly Failover[],
): Promise<void> {
  const load = createLoad({
    fetch: pickFetch(fleet.urls),
    elicitations: SIZE.failover,
    askers: ASKERS,
    users: USERS,
    graceMs: paced(20_000),
    endsLast: true,
    behindMs: 5_000,
  });
  const running = load.run();
  const outages: Outage[] = [];
  const ended = () => load.history.events.filter(({ type }) => type === 'wait').length;
  for (const [at, { name, cause, heal }] of failovers.entries()) {
    // All of them happen in the first half of the load, so that each meets questions that are asked and waited for.
    const enough = (SIZE.failover * (at + 1)) / (2 * failovers.length);
    await waitUntil(() => ended() > enough, { what: 'the load to make progress', timeoutMs: 120_000 });
    const from = performance.now();
    load.history.record({ type: 'fault', kind: name, at: from });
    await cause();
    outages.push({ from, to: performance.now() });
    await heal();
  }
  await running;
  const report = checkHistory(load.history.events, { allow: LOSS, graceMs: paced(20_000) });
  const refusedMs = longestRefusalMs(load.history.events, outages);
  const after = await calmLoad(fleet);
  prove(
    title,
    `${describeLoss(report)}\nrefused for ${refusedMs} ms at most\n${formatReport(report)}\nafterwards: ${formatReport(after)}`,
  );
  expect(report.violations, formatReport(report)).toEqual([]);
  expect(report.counts.acked).toBe(SIZE.failover);
  expect(refusedMs).toBeLessThanOrEqual(REFUSED_MAX_MS);
  expect(after.violations, formatReport(after)).toEqual([]);
  expect(after.counts.acked).toBe(AFTER);
}

/** Runs a load through changes that take no server away, and expects that no promise suffers from them. */
export async function throughChanges(
  fleet: Pick<Fleet, 'urls'>,
  title: string,
  changes: readonly (() => Promise<unknown>)[],
): Promise<void> {
  await Promise.all(fleet.urls.map((url) => untilReady({ url })));
  const load = createSettleLoad({
    fetch: pickFetch(fleet.urls),
    settles: SIZE.changes,
    askers: ASKERS,
    users: USERS,
    faults: changes,
  });
  await load.run();
  const report = checkHistory(load.history.events);
  const refusedMs = longestRefusalMs(load.history.events);
  prove(title, `${changes.length} changes, refused for ${refusedMs} ms at most\n${formatReport(report)}`);
  expect(report.violations, formatReport(report)).toEqual([]);
  expect(load.settled()).toBe(SIZE.changes);
  expect(refusedMs).toBeLessThanOrEqual(REFUSED_MAX_MS);
}

/** Expects that all promises hold again as soon as the pods are ready. */
async function calmLoad(fleet: Fleet): Promise<Report> {
  await Promise.all(fleet.urls.map((url) => untilReady({ url })));
  const load = createLoad({
    fetch: pickFetch(fleet.urls),
    elicitations: AFTER,
    askers: sized(40, 15),
    users: USERS,
  });
  await load.run();
  return checkHistory(load.history.events, { graceMs: paced(6_000) });
}

function describeLoss({ allowed, counts }: Report): string {
  const touched = new Set(allowed.map(({ subject }) => subject));
  const gone = new Set(allowed.filter(({ rule }) => rule === 'I1').map(({ subject }) => subject));
  const changed = new Set(allowed.filter(({ rule }) => rule === 'I4').map(({ subject }) => subject));
  return `of ${counts.acked} acknowledged questions ${touched.size} were touched by loss: ${gone.size} gone, ${changed.size} ended otherwise than acknowledged`;
}
