import { Redis } from 'ioredis';
import { startWorker } from '../../test/harness/processes/processes.ts';
import type { Bench } from '../bench.ts';
import { type Measurement, quantile } from '../measurement.ts';
import { openBenchEngine } from '../pod/engine.ts';
import { cpuSecondsOf } from '../process-usage.ts';
import { startChild } from '../processes/start-child.ts';
import { countCommands } from '../redis-usage.ts';
import { type Deadlines, latenessOf, PATIENCE_MS, throughDeaths } from './deaths.ts';

/** All of them are due within one second. */
const COUNT = 10_000;
const DUE_IN_SECONDS = 20;
/** Due within a minute, in which their asker and one of two workers die. */
const MANY = 100_000;
const MANY_DUE_IN_SECONDS = 150;
const CPU_SECONDS_EACH = 2 / 10_000;
// Redis wakes a blocked worker on its timer tick: hz 10, so 100 ms.
const TICK_MS = 100;

function manyOf(scaled: Bench['scaled']): Deadlines {
  return { count: scaled(MANY, 6), dueInSeconds: scaled(MANY_DUE_IN_SECONDS, 2), overSeconds: scaled(60, 2) };
}

/** How late deadlines are, while the asking pod runs and after it has been killed. */
export async function timers({ redisUrl, scaled, progress }: Bench): Promise<Measurement[]> {
  const { engine, backend } = await openBenchEngine(redisUrl);
  const redis = new Redis(redisUrl);
  const worker = await startWorker({ REDIS_URL: redisUrl, PARLEY_SWEEP_MS: '60000' });
  const lateness = async (kill: boolean) => {
    const child = await startChild(redisUrl);
    const count = scaled(COUNT, 5);
    child.send({ do: 'ask', count, dueInSeconds: scaled(DUE_IN_SECONDS, 2), overSeconds: 1 });
    const { ids } = await child.receive('opened');
    if (kill) await child.kill();
    const pids = [worker.pid, ...(kill ? [] : [child.pid])];
    const before = await cpuSecondsOf(pids);
    const commandsBefore = await countCommands(redis);
    const late: number[] = [];
    const patientUntil = Date.now() + PATIENCE_MS;
    for (const id of ids) late.push((await latenessOf(engine, id, patientUntil)) ?? Number.POSITIVE_INFINITY);
    const cpu = (await cpuSecondsOf(pids)) - before;
    const commands = (await countCommands(redis)) - commandsBefore;
    await child.kill();
    progress(
      `timers, asking pod ${kill ? 'dead' : 'alive'}: ${count} ended, p50 ${quantile(late, 0.5)} ms, p99 ${quantile(late, 0.99)} ms late`,
    );
    return { lateMs: quantile(late, 0.99), cpu, commands: commands / count };
  };
  const alive = await lateness(false);
  const dead = await lateness(true);
  const count = scaled(COUNT, 5).toLocaleString('en');
  redis.disconnect();
  await worker.stop();
  const many = await throughDeaths(engine, { redisUrl, progress }, manyOf(scaled));
  await backend.close();
  return [
    {
      what: `${count} deadlines in one second, asking pod alive: late, p99`,
      measured: `${alive.lateMs} ms`,
      ratios: [alive.lateMs / 20],
      aim: { atMost: 1 },
    },
    {
      what: `${count} deadlines in one second, asking pod alive: its CPU and that of the worker`,
      measured: `${alive.cpu.toFixed(2)} s, ${alive.commands.toFixed(1)} commands at Redis each`,
      ratios: [alive.cpu / (CPU_SECONDS_EACH * scaled(COUNT, 5))],
      aim: { atMost: 1 },
    },
    {
      what: `${count} deadlines in one second, asking pod dead: late, p99`,
      measured: `${dead.lateMs} ms`,
      ratios: [dead.lateMs / (TICK_MS + 100)],
      aim: { atMost: 1 },
    },
    many,
  ];
}
