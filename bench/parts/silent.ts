import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { type ManagedProcess, startPod } from '../../test/harness/processes/processes.ts';
import { liveBytes, REPORTS_MEMORY } from '../../test/harness/processes/resources.ts';
import { userToken } from '../../test/harness/tokens.ts';
import type { Bench } from '../bench.ts';
import type { Measurement } from '../measurement.ts';
import { TENANT } from '../pod/engine.ts';
import { type EventReader, openEventReader } from '../pod/event-reader.ts';
import { HTTP_ENV, SERVICE_TOKEN } from '../pod/http-client.ts';
import { processUsage } from '../process-usage.ts';
import { startBare } from '../processes/start-bare.ts';
import { countCommands } from '../redis-usage.ts';
import { inSlots } from '../slots.ts';

const STREAMS = 10_000;
const SLOTS = 32;
// Several heartbeats, and as long as the places of streams are not renewed.
const QUIET_MS = 90_000;

type Server = ManagedProcess & { readonly url: string };

/** A kind of stream, and what one of them should cost; nothing for the floor, which the others are compared with. */
interface Kind {
  readonly name: string;
  readonly start: (redisUrl: string) => Promise<Server>;
  readonly open: (server: Server, index: number) => Promise<EventReader>;
  readonly aims?: { readonly bytes: number; readonly openMs: number };
}

function startStreamPod(redisUrl: string): Promise<Server> {
  return startPod(
    { ...HTTP_ENV, PARLEY_LIMIT_TENANT_READS: '1000000000', REDIS_URL: redisUrl },
    { nodeArgs: [...REPORTS_MEMORY] },
  );
}

async function openInbox(url: string, index: number): Promise<EventReader> {
  const userId = `silent-${index}`;
  const token = await userToken({ secret: HTTP_ENV.PARLEY_JWT_SECRET, userId, tenant: TENANT });
  return openEventReader(url, token);
}

const KINDS: readonly Kind[] = [
  {
    name: 'inbox',
    start: startStreamPod,
    open: ({ url }, index) => openInbox(`${url}/v1/inbox/events`, index),
    aims: { bytes: 15_000, openMs: 1 },
  },
  {
    name: 'stream request',
    start: startStreamPod,
    open: ({ url }, index) =>
      openEventReader(`${url}/v1/streams/silent-${index}/events?userId=silent-${index}`, SERVICE_TOKEN),
    aims: { bytes: 12_000, openMs: 1 },
  },
  {
    name: 'bare server',
    start: (redisUrl) => startBare('bare-streams', redisUrl, REPORTS_MEMORY),
    open: ({ url }, index) => openInbox(`${url}/inbox/${index}`, index),
  },
];
const CPU_SHARE = 0.03;
const COMMANDS_PER_SECOND = 700;

/** Streams on which nothing happens: what it takes to open one, and what one costs while it is open. */
export async function silent({ redisUrl, scaled, progress }: Bench): Promise<Measurement[]> {
  const count = scaled(STREAMS, 20);
  const rows: Measurement[] = [];
  for (const kind of KINDS) {
    const pod = await kind.start(redisUrl);
    const held = await hold(pod, redisUrl, kind, {
      count,
      quietMs: Math.min(QUIET_MS, scaled(10 * QUIET_MS, 200)),
    });
    progress(`silent: ${count} of kind ${kind.name}`);
    await pod.stop();
    rows.push(...rowsOf(kind, count, held));
  }
  return rows;
}

async function hold(
  pod: Server,
  redisUrl: string,
  kind: Kind,
  { count, quietMs }: { readonly count: number; readonly quietMs: number },
) {
  const redis = new Redis(redisUrl);
  const readers: EventReader[] = [];
  // What the first streams compile and cache is not theirs.
  for (let index = 0; index < SLOTS; index += 1) {
    readers.push(await kind.open(pod, count + index));
  }
  const heapBefore = await liveBytes(pod);
  const before = await processUsage(pod.pid);
  await inSlots(count, SLOTS, async (index) => {
    readers.push(await kind.open(pod, index));
  });
  const opened = await processUsage(pod.pid);
  const heap = await liveBytes(pod);
  const commandsBefore = await countCommands(redis);
  const quietFrom = await processUsage(pod.pid);
  await sleep(quietMs);
  const quiet = await processUsage(pod.pid);
  const commands = (await countCommands(redis)) - commandsBefore;
  for (const reader of readers) reader.close();
  redis.disconnect();
  return {
    heapEach: (heap - heapBefore) / count,
    residentEach: before && opened && (opened.residentBytes - before.residentBytes) / count,
    openMsEach: before && opened && ((opened.cpuSeconds - before.cpuSeconds) * 1e3) / count,
    cpuShare: quietFrom && quiet && ((quiet.cpuSeconds - quietFrom.cpuSeconds) * 1e3) / quietMs,
    commandsPerSecond: commands / (quietMs / 1000),
  };
}

function rowsOf({ name, aims }: Kind, count: number, held: Awaited<ReturnType<typeof hold>>): Measurement[] {
  const streams = `${count.toLocaleString('en')} silent streams of kind ${name}`;
  const figure = (value: number | undefined, text: (value: number) => string, aim: number | undefined) => ({
    measured: value === undefined ? 'not measured: no /proc' : text(value),
    ...(aim !== undefined && value !== undefined && { ratios: [value / aim], aim: { atMost: 1 } }),
  });
  return [
    {
      what: `${streams}: live bytes of the pod for each`,
      ...figure(held.heapEach, (bytes) => `${Math.round(bytes)} bytes`, aims?.bytes),
    },
    {
      what: `${streams}: resident memory of the pod for each`,
      measured:
        held.residentEach === undefined ? 'not measured: no /proc' : `${Math.round(held.residentEach)} bytes`,
    },
    {
      what: `${streams}: CPU of the pod to open one`,
      ...figure(held.openMsEach, (ms) => `${ms.toFixed(2)} ms`, aims?.openMs),
    },
    {
      what: `${streams}: CPU of the pod in the meantime`,
      ...figure(held.cpuShare, (share) => `${(share * 100).toFixed(1)} %`, aims && CPU_SHARE),
    },
    {
      what: `${streams}: commands at Redis a second, those of scripts included`,
      ...figure(held.commandsPerSecond, (number) => number.toFixed(0), aims && COMMANDS_PER_SECOND),
    },
  ];
}
