import { setTimeout as sleep } from 'node:timers/promises';
import { type Pod, startPod } from '../../test/harness/processes/processes.ts';
import type { Bench } from '../bench.ts';
import { type Measurement, microseconds, quantile } from '../measurement.ts';
import { QUESTION, userOf } from '../pod/engine.ts';
import { ANSWER, createHttpClient, HTTP_ENV, type HttpClient, SERVICE_TOKEN } from '../pod/http-client.ts';
import { cpuSecondsOf } from '../process-usage.ts';
import type { Reply } from '../processes/messages.ts';
import { startChild } from '../processes/start-child.ts';

// Of each of two pods, of which one dies.
const READERS = 10_000;
const CALM_MS = 10_000;
const CALLS_PER_SECOND = 20;
const LOOK_MS = 250;
const BACK_SECONDS = 30;

/** A pod with many streams dies while others ask and answer at the pods to which its readers come back. */
export async function storm({ redisUrl, scaled, progress }: Bench): Promise<Measurement[]> {
  const count = scaled(READERS, 10);
  const env = {
    ...HTTP_ENV,
    PARLEY_LIMIT_TENANT_READS: '1000000000',
    REDIS_URL: redisUrl,
  };
  const [dying, asking, answering] = (await Promise.all([0, 1, 2].map(() => startPod(env)))) as [
    Pod,
    Pod,
    Pod,
  ];
  const readers = await startChild(redisUrl);
  const others = await startChild(redisUrl);
  const followed = async (): Promise<Extract<Reply, { type: 'followed' }>> => {
    readers.send({ do: 'followed' });
    return readers.receive('followed');
  };
  readers.send({ do: 'follow', url: dying.url, count });
  others.send({ do: 'follow', url: answering.url, count });
  await Promise.all([readers.receive('followed'), others.receive('followed')]);
  progress(`storm: ${2 * count} streams over two pods`);
  const client = await createHttpClient(64);
  const calls = startCalls(client, asking, answering);
  await sleep(scaled(CALM_MS, 300));
  const calm = calls.take();
  progress(`storm: calm, ${calm.took.length} calls, p99 ${milliseconds(quantile(calm.took, 0.99))}`);
  const cpuBefore = await cpuSecondsOf([asking.pid, answering.pid]);
  readers.send({ do: 'move', urls: [asking.url, answering.url] });
  const killedAt = microseconds();
  dying.kill('SIGKILL');
  await sleep(LOOK_MS);
  let state = await followed();
  while (state.connected < count) {
    await sleep(LOOK_MS);
    state = await followed();
    progress(`storm: ${state.connected} are back; refused ${JSON.stringify(state.refusals)}`);
  }
  const cpu = (await cpuSecondsOf([asking.pid, answering.pid])) - cpuBefore;
  // The calls that are still under way are the slowest.
  await calls.stop();
  const rough = calls.take();
  others.send({ do: 'followed' });
  const stayed = await others.receive('followed');
  await Promise.all([readers.kill(), others.kill(), asking.stop(), answering.stop()]);
  const backSeconds = (state.lastAt - killedAt) / 1e6;
  const p99 = [calm, rough].map(({ took }) => quantile(took, 0.99)) as [number, number];
  const readersText = `${count.toLocaleString('en')} readers of a pod that dies, beside as many of another`;
  return [
    {
      what: `${readersText}: all are back after`,
      measured: `${backSeconds.toFixed(1)} s, refused ${JSON.stringify(state.refusals)}`,
      ratios: [backSeconds / BACK_SECONDS],
      aim: { atMost: 1 },
    },
    {
      what: `${readersText}: asks and answers of others that fail while they return`,
      measured: `${rough.failed.length} of ${rough.took.length + rough.failed.length} ${[...new Set(rough.failed)].join(', ')}`,
      ratios: [rough.failed.length],
      aim: { atMost: 0 },
    },
    {
      what: `${readersText}: asks and answers while they return, p99 over that before`,
      measured: `p99 ${milliseconds(p99[1])} and ${milliseconds(p99[0])}, p50 ${milliseconds(quantile(rough.took, 0.5))} and ${milliseconds(quantile(calm.took, 0.5))}, max ${milliseconds(Math.max(...rough.took))}`,
      ratios: [p99[1] / p99[0]],
      aim: { atMost: 2 },
    },
    {
      what: `${readersText}: streams of the other one that broke`,
      measured: `${count - stayed.connected} open no more, refused ${JSON.stringify(stayed.refusals)}`,
      ratios: [Object.values(stayed.refusals).reduce((sum, refused) => sum + refused, 0)],
      aim: { atMost: 0 },
    },
    {
      what: `${readersText}: CPU of the other pods for each`,
      measured: `${((cpu * 1e3) / count).toFixed(2)} ms`,
    },
  ];
}

/** Asks at one pod and answers at the other, so often a second however long it takes. */
function startCalls(client: HttpClient, asking: Pod, answering: Pod) {
  let took: number[] = [];
  let failed: string[] = [];
  let next = 0;
  const underWay = new Set<Promise<void>>();

  async function timed(url: string, token: string, body: string): Promise<string> {
    const startedAt = microseconds();
    const reply = await client.post(url, token, body);
    took.push(microseconds() - startedAt);
    return reply;
  }

  async function askAndAnswer(index: number): Promise<void> {
    try {
      const body = JSON.stringify({ ...QUESTION, userId: userOf(index) });
      const asked = JSON.parse(await timed(`${asking.url}/v1/elicitations`, SERVICE_TOKEN, body)) as {
        readonly elicitationId: string;
      };
      const url = `${answering.url}/v1/elicitations/${asked.elicitationId}/response`;
      await timed(url, client.tokenOf(index), ANSWER);
    } catch (error) {
      failed.push(String(error).slice(0, 120));
    }
  }

  const timer = setInterval(() => {
    const call = askAndAnswer(next).finally(() => underWay.delete(call));
    next = (next + 1) % 200;
    underWay.add(call);
  }, 2_000 / CALLS_PER_SECOND);
  return {
    take() {
      const taken = { took, failed };
      took = [];
      failed = [];
      return taken;
    },
    async stop() {
      clearInterval(timer);
      await Promise.all(underWay);
    },
  };
}

function milliseconds(micros: number): string {
  return `${(micros / 1000).toFixed(0)} ms`;
}
