import { Agent, type ClientRequest, get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine } from '@parley/shared/elicitations/engine';
import { type Pod, startPod } from '../../test/harness/processes/processes.ts';
import type { Bench } from '../bench.ts';
import { inLanes } from '../lanes.ts';
import { type Measurement, median, microseconds } from '../measurement.ts';
import { openBenchEngine, QUESTION, TENANT, userOf } from '../pod/engine.ts';
import { HTTP_ENV, SERVICE_TOKEN } from '../pod/http-client.ts';
import { processUsage } from '../process-usage.ts';

const STREAMS = 1_000;
const OPEN_STREAMS = 10_000;
const LANES = 32;
const QUIET_MS = 5_000;
// An open stream should hold no more memory.
const STREAM_BYTES = 30_000;

interface Reader {
  /** Resolves with the time at which a text has arrived, in microseconds. */
  saw(text: string): Promise<number>;
  close(): void;
}

/** One pod with many event streams: how fast an event reaches its reader, and what an open stream costs. */
export async function fanout({ redisUrl, built, scaled, progress }: Bench): Promise<Measurement[]> {
  const runs = built ? 'build' : 'bundle';
  const pod = await startPod({ ...HTTP_ENV, REDIS_URL: redisUrl }, { runs });
  const { engine, backend } = await openBenchEngine(redisUrl);
  const events = await deliver(pod, engine, scaled(STREAMS, 10));
  progress(`fanout: ${events.count} events, p50 ${median(events.took)} us`);
  const open = await hold(pod, scaled(OPEN_STREAMS, 50), scaled(QUIET_MS, 200));
  progress(`fanout: ${open.count} open streams`);
  await Promise.all([pod.stop(), backend.close()]);
  const streams = open.count.toLocaleString('en');
  return [
    {
      what: `an end reaches the readers of ${events.count.toLocaleString('en')} streams of one pod`,
      measured: `p50 ${median(events.took)} us${microsecondsEach(events.podSeconds, events.count)}`,
    },
    {
      what: `resident memory of one of ${streams} open event streams, over 30 kB`,
      measured:
        open.bytesEach === undefined ? 'not measured: no /proc' : `${Math.round(open.bytesEach)} bytes`,
      ratios: [(open.bytesEach ?? 0) / STREAM_BYTES],
      aim: { atMost: 1 },
    },
    {
      what: 'CPU of the pod for it, a second without events',
      measured: open.cpuEach === undefined ? 'not measured: no /proc' : `${open.cpuEach.toFixed(2)} us`,
    },
  ];
}

/** Ends one question on each stream, and takes the time until its reader has the event. */
async function deliver(pod: Pod, engine: Engine, count: number) {
  const asked: { readonly userId: string; readonly id: string; readonly reader: Reader }[] = [];
  await inLanes(count, LANES, async (index) => {
    const userId = userOf(index);
    const streamRequestId = `fanout-${index}`;
    const { row } = await engine.ask({
      tenant: TENANT,
      input: { ...QUESTION, userId, streamRequestId } as never,
    });
    const reader = await openReader(pod, streamRequestId, userId);
    await reader.saw(row.id);
    asked.push({ userId, id: row.id, reader });
  });
  const before = await processUsage(pod.pid);
  const took: number[] = [];
  await inLanes(asked.length, LANES, async (index) => {
    const { userId, id, reader } = asked[index] as (typeof asked)[number];
    const startedAt = microseconds();
    const arrived = reader.saw('elicitation-resolved');
    await engine.answer({
      caller: { kind: 'user', tenant: TENANT, userId },
      id,
      response: { action: 'accept', content: { environment: 'staging', at: 1 } },
      surface: 'api',
    });
    took.push((await arrived) - startedAt);
    reader.close();
  });
  const after = await processUsage(pod.pid);
  return { count, took, podSeconds: before && after && after.cpuSeconds - before.cpuSeconds };
}

/** Opens streams on which nothing happens. */
async function hold(pod: Pod, count: number, quietMs: number) {
  const before = await processUsage(pod.pid);
  const readers: Reader[] = [];
  await inLanes(count, LANES, async (index) => {
    readers.push(await openReader(pod, `silent-${index}`, userOf(index)));
  });
  const opened = await processUsage(pod.pid);
  await sleep(quietMs);
  const quiet = await processUsage(pod.pid);
  for (const reader of readers) reader.close();
  return {
    count,
    bytesEach: before && opened && (opened.residentBytes - before.residentBytes) / count,
    cpuEach: opened && quiet && ((quiet.cpuSeconds - opened.cpuSeconds) * 1e9) / (count * quietMs),
  };
}

/** A reader with a connection of its own. */
async function openReader(pod: Pod, streamRequestId: string, userId: string): Promise<Reader> {
  const agent = new Agent({ keepAlive: false });
  const headers = { authorization: `Bearer ${SERVICE_TOKEN}` };
  const url = `${pod.url}/v1/streams/${streamRequestId}/events?userId=${userId}`;
  const { request, response } = await new Promise<{ request: ClientRequest; response: IncomingMessage }>(
    (resolve, reject) => {
      const sent = get(url, { agent, headers }, (res) => resolve({ request: sent, response: res }));
      sent.once('error', reject);
    },
  );
  if (response.statusCode !== 200) throw new Error(`an event stream replied ${response.statusCode}`);
  request.on('error', () => undefined);
  response.on('error', () => undefined);
  let text = '';
  let seen: () => void = () => undefined;
  response.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
    seen();
  });
  return {
    saw: (wanted) =>
      new Promise((resolve) => {
        seen = () => {
          if (text.includes(wanted)) resolve(microseconds());
        };
        seen();
      }),
    close: () => request.destroy(),
  };
}

function microsecondsEach(seconds: number | undefined, count: number): string {
  return seconds === undefined ? '' : `, ${((seconds * 1e6) / count).toFixed(0)} us of the pod's CPU each`;
}
