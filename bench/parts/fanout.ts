import type { Row } from '@parley/shared/domain/elicitations/row';
import type { Engine } from '@parley/shared/elicitations/engine';
import { commitNames } from '@parley/shared/redis/client/keys';
import { startPod } from '../../test/harness/processes/processes.ts';
import { userToken } from '../../test/harness/tokens.ts';
import type { Bench } from '../bench.ts';
import { type Measurement, median, microseconds } from '../measurement.ts';
import { openBenchEngine, QUESTION, TENANT, userOf } from '../pod/engine.ts';
import { type EventReader, openEventReader } from '../pod/event-reader.ts';
import { HTTP_ENV, SERVICE_TOKEN } from '../pod/http-client.ts';
import { processUsage } from '../process-usage.ts';
import { startBare } from '../processes/start-bare.ts';
import { inSlots } from '../slots.ts';

const STREAMS = 1_000;
const SLOTS = 32;
// What the pod should need to bring one event to its reader.
const EVENT_MICROSECONDS = 250;

/** What is measured: a process, and how a reader follows the stream request of a question there. */
interface Server {
  readonly pid: number;
  readonly open: (row: Row) => Promise<EventReader>;
}

/** One pod with many event streams: how fast an event reaches its reader. */
export async function fanout({ redisUrl, scaled, progress }: Bench): Promise<Measurement[]> {
  const pod = await startPod({ ...HTTP_ENV, REDIS_URL: redisUrl });
  const bare = await startBare('bare-streams', redisUrl);
  const { engine, backend } = await openBenchEngine(redisUrl);
  const count = scaled(STREAMS, 10);
  const measure = async (server: Server) => {
    // What the first events compile, optimize and cache is not theirs.
    for (const round of ['first', 'second']) await deliver(server, engine, count, round);
    return deliver(server, engine, count, 'third');
  };
  const events = await measure({
    pid: pod.pid,
    open: ({ definition: { userId, streamRequestId } }) =>
      openEventReader(`${pod.url}/v1/streams/${streamRequestId}/events?userId=${userId}`, SERVICE_TOKEN),
  });
  const floor = await measure({
    pid: bare.pid,
    open: async (row) => {
      const { userId } = row.definition;
      const token = await userToken({ secret: HTTP_ENV.PARLEY_JWT_SECRET, userId, tenant: TENANT });
      const { streamChannel } = commitNames(row, { kinds: new Set(), isOfTurn: false });
      return openEventReader(`${bare.url}/streams?channel=${encodeURIComponent(streamChannel)}`, token);
    },
  });
  progress(
    `fanout: ${events.count} events, p50 ${median(events.took)} us, ${median(floor.took)} us of a bare server`,
  );
  await Promise.all([pod.stop(), bare.stop(), backend.close()]);
  return [
    {
      what: `an end by another pod reaches the readers of ${events.count.toLocaleString('en')} streams of one pod`,
      measured: `p50 ${median(events.took)} us`,
    },
    {
      what: 'CPU of the pod for it',
      measured:
        events.cpuEach === undefined ? 'not measured: no /proc' : `${events.cpuEach.toFixed(0)} us each`,
      ...(events.cpuEach !== undefined && {
        ratios: [events.cpuEach / EVENT_MICROSECONDS],
        aim: { atMost: 1 } as const,
      }),
    },
    {
      what: 'its floor: CPU of a bare server that writes the wake',
      measured:
        floor.cpuEach === undefined ? 'not measured: no /proc' : `${floor.cpuEach.toFixed(0)} us each`,
    },
  ];
}

/** Ends one question on each stream, and takes the time until its reader has the event. The streams stay open until then. */
async function deliver(server: Server, engine: Engine, count: number, round: string) {
  const asked: { readonly userId: string; readonly id: string; readonly reader: EventReader }[] = [];
  await inSlots(count, SLOTS, async (index) => {
    const userId = userOf(index);
    const streamRequestId = `fanout-${round}-${index}`;
    const { row } = await engine.ask({
      tenant: TENANT,
      input: { ...QUESTION, userId, streamRequestId } as never,
    });
    const reader = await server.open(row);
    await reader.saw(row.id);
    asked.push({ userId, id: row.id, reader });
  });
  const before = await processUsage(server.pid);
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
  const after = await processUsage(server.pid);
  for (const { reader } of asked) reader.close();
  return { count, took, cpuEach: before && after && ((after.cpuSeconds - before.cpuSeconds) * 1e6) / count };
}
