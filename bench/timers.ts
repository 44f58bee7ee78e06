import { setTimeout as sleep } from 'node:timers/promises';
import { startWorker } from '../test/harness/processes.ts';
import { openBenchEngine, SERVICE } from './engine.ts';
import { startRole } from './roles.ts';
import { type Finding, quantile } from './stats.ts';

const COUNT = 500;
const TIMEOUT_SECONDS = 4;
// Redis wakes a blocked worker on its timer tick: hz 10, so 100 ms.
const TICK_MS = 100;

/** How late deadlines are, with the asking pod alive and with it dead. */
export async function timers(redisUrl: string, progress: (text: string) => void): Promise<Finding[]> {
  const { engine } = await openBenchEngine(redisUrl);
  const worker = await startWorker({ REDIS_URL: redisUrl, PARLEY_SWEEP_MS: '60000' }, { build: true });
  const lateness = async (kill: boolean) => {
    const role = await startRole(redisUrl);
    role.send({ do: 'ask', count: COUNT, timeoutSeconds: TIMEOUT_SECONDS });
    const { ids } = await role.hear('opened');
    if (kill) await role.kill();
    await sleep((TIMEOUT_SECONDS + 2) * 1000);
    const late: number[] = [];
    for (const id of ids) {
      const { row } = await engine.read(SERVICE, id);
      if (row.settledAt !== undefined) late.push(row.settledAt - row.expiresAt);
    }
    await role.kill();
    progress(
      `timers, asking pod ${kill ? 'dead' : 'alive'}: ${late.length} of ${COUNT} ended, p50 ${quantile(late, 0.5)} ms, p99 ${quantile(late, 0.99)} ms late`,
    );
    return quantile(late, 0.99);
  };
  const alive = await lateness(false);
  const dead = await lateness(true);
  await worker.stop();
  return [
    {
      what: 'deadlines late, asking pod alive, p99',
      measured: `${alive} ms`,
      ratio: alive / 20,
      aim: { atMost: 1 },
    },
    {
      what: 'deadlines late, asking pod dead, p99',
      measured: `${dead} ms`,
      ratio: dead / (TICK_MS + 100),
      aim: { atMost: 1 },
    },
  ];
}
