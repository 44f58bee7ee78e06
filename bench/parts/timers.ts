import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine } from '@parley/shared/elicitations/engine';
import { Redis } from 'ioredis';
import { startWorker } from '../../test/harness/processes/processes.ts';
import type { Bench } from '../bench.ts';
import { type Measurement, quantile } from '../measurement.ts';
import { openBenchEngine, SERVICE } from '../pod/engine.ts';
import { cpuSecondsOf } from '../process-usage.ts';
import { startChild } from '../processes/start-child.ts';
import { countCommands } from '../redis-usage.ts';

/** All of them are due within one second. */
const COUNT = 10_000;
const DUE_IN_SECONDS = 20;
const PATIENCE_MS = 30_000;
const CPU_SECONDS_EACH = 2 / 10_000;
// Redis wakes a blocked worker on its timer tick: hz 10, so 100 ms.
const TICK_MS = 100;

/** How late deadlines are, while the asking pod runs and after it has been killed. */
export async function timers({ redisUrl, scaled, progress }: Bench): Promise<Measurement[]> {
  const { engine, backend } = await openBenchEngine(redisUrl);
  const redis = new Redis(redisUrl);
  const worker = await startWorker({ REDIS_URL: redisUrl, PARLEY_SWEEP_MS: '60000' });
  const lateness = async (kill: boolean) => {
    const child = await startChild(redisUrl);
    const count = scaled(COUNT, 5);
    child.send({ do: 'ask', count, dueInSeconds: scaled(DUE_IN_SECONDS, 2) });
    const { ids } = await child.receive('opened');
    if (kill) await child.kill();
    const pids = [worker.pid, ...(kill ? [] : [child.pid])];
    const before = await cpuSecondsOf(pids);
    const commandsBefore = await countCommands(redis);
    const late: number[] = [];
    for (const id of ids) late.push(await latenessOf(engine, id));
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
  await Promise.all([worker.stop(), backend.close()]);
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
  ];
}

/** How many ms after its deadline an elicitation ended. Reads again, with pauses, until it has. */
async function latenessOf(engine: Engine, id: string): Promise<number> {
  const patientUntil = Date.now() + PATIENCE_MS;
  for (;;) {
    const { row, now } = await engine.read(SERVICE, id);
    if (row.settledAt !== undefined) return row.settledAt - row.expiresAt;
    if (Date.now() > patientUntil) throw new Error(`No timer has ended ${id}.`);
    // A pause until well after the deadline: a read in between would disturb what is measured.
    await sleep(Math.max(0, row.expiresAt - now) + 1_000);
  }
}
