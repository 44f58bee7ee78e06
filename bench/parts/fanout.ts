import type { Engine } from '@parley/shared/elicitations/engine';
import { type Pod, startPod } from '../../test/harness/processes/processes.ts';
import type { Bench } from '../bench.ts';
import { type Measurement, median, microseconds } from '../measurement.ts';
import { openBenchEngine, QUESTION, TENANT, userOf } from '../pod/engine.ts';
import { type EventReader, openEventReader } from '../pod/event-reader.ts';
import { HTTP_ENV, SERVICE_TOKEN } from '../pod/http-client.ts';
import { processUsage } from '../process-usage.ts';
import { inSlots } from '../slots.ts';

const STREAMS = 1_000;
const SLOTS = 32;
// What the pod should need to bring one event to its reader.
const EVENT_MICROSECONDS = 250;

/** One pod with many event streams: how fast an event reaches its reader. */
export async function fanout({ redisUrl, scaled, progress }: Bench): Promise<Measurement[]> {
  const pod = await startPod({ ...HTTP_ENV, REDIS_URL: redisUrl });
  const { engine, backend } = await openBenchEngine(redisUrl);
  // What the first events compile and cache is not theirs.
  await deliver(pod, engine, scaled(STREAMS, 10), 'first');
  const events = await deliver(pod, engine, scaled(STREAMS, 10), 'second');
  progress(`fanout: ${events.count} events, p50 ${median(events.took)} us`);
  await Promise.all([pod.stop(), backend.close()]);
  return [
    {
      what: `an end reaches the readers of ${events.count.toLocaleString('en')} streams of one pod`,
      measured: `p50 ${median(events.took)} us`,
    },
    {
      what: 'CPU of the pod for it',
      measured:
        events.cpuEach === undefined ? 'not measured: no /proc' : `${events.cpuEach.toFixed(0)} us each`,
      ratios: [(events.cpuEach ?? 0) / EVENT_MICROSECONDS],
      aim: { atMost: 1 },
    },
  ];
}

/** Ends one question on each stream, and takes the time until its reader has the event. The streams stay open until then. */
async function deliver(pod: Pod, engine: Engine, count: number, round: string) {
  const asked: { readonly userId: string; readonly id: string; readonly reader: EventReader }[] = [];
  await inSlots(count, SLOTS, async (index) => {
    const userId = userOf(index);
    const streamRequestId = `fanout-${round}-${index}`;
    const { row } = await engine.ask({
      tenant: TENANT,
      input: { ...QUESTION, userId, streamRequestId } as never,
    });
    const reader = await openEventReader(
      `${pod.url}/v1/streams/${streamRequestId}/events?userId=${userId}`,
      SERVICE_TOKEN,
    );
    await reader.saw(row.id);
    asked.push({ userId, id: row.id, reader });
  });
  const before = await processUsage(pod.pid);
  const took: number[] = [];
  await inSlots(asked.length, SLOTS, async (index) => {
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
  });
  const after = await processUsage(pod.pid);
  for (const { reader } of asked) reader.close();
  return { count, took, cpuEach: before && after && ((after.cpuSeconds - before.cpuSeconds) * 1e6) / count };
}
