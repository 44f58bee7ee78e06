import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine } from '@parley/shared/elicitations/engine';
import { startWorker } from '../../test/harness/processes/processes.ts';
import type { Bench } from '../bench.ts';
import { type Measurement, quantile } from '../measurement.ts';
import { SERVICE } from '../pod/engine.ts';
import { startChild } from '../processes/start-child.ts';
import { inSlots } from '../slots.ts';

/** How long after the last deadline an end may come before it counts as missing, in ms. */
export const PATIENCE_MS = 120_000;
const READS_UNDER_WAY = 16;

/** How many deadlines there are, when the first of them is due, and within which time all are. */
export interface Deadlines {
  readonly count: number;
  readonly dueInSeconds: number;
  readonly overSeconds: number;
}

/** Deadlines whose asker is dead. One of two workers, which sweep as often as by default, dies while they are due. */
export async function throughDeaths(
  engine: Engine,
  { redisUrl, progress }: Pick<Bench, 'redisUrl' | 'progress'>,
  { count, dueInSeconds, overSeconds }: Deadlines,
): Promise<Measurement> {
  const [dying, living] = await Promise.all([0, 1].map(() => startWorker({ REDIS_URL: redisUrl })));
  const child = await startChild(redisUrl);
  const firstDueAt = Date.now() + dueInSeconds * 1_000;
  child.send({ do: 'ask', count, dueInSeconds, overSeconds });
  const { ids } = await child.receive('opened');
  await child.kill();
  await sleep(firstDueAt - Date.now() + (overSeconds * 1_000) / 2);
  dying?.kill('SIGKILL');
  const late: number[] = [];
  const patientUntil = Date.now() + (overSeconds * 1_000) / 2 + PATIENCE_MS;
  await inSlots(ids.length, READS_UNDER_WAY, async (index) => {
    const ms = await latenessOf(engine, ids[index] ?? '', patientUntil);
    if (ms !== undefined) late.push(ms);
  });
  await living?.stop();
  const text = [0.5, 0.99, 1].map((share) => `${quantile(late, share)} ms`).join(', ');
  progress(`timers, ${count} through two deaths: p50, p99 and latest ${text}`);
  return {
    what: `${count.toLocaleString('en')} deadlines in ${overSeconds} s, asker and one of two workers killed: not ended`,
    measured: `${count - late.length}; p50, p99 and latest ${text} late`,
    ratios: [count - late.length],
    aim: { atMost: 0 },
  };
}

/** How many ms after its deadline an elicitation ended; undefined for one that nothing has ended by then. Reads again, with pauses. */
export async function latenessOf(
  engine: Engine,
  id: string,
  patientUntil: number,
): Promise<number | undefined> {
  for (;;) {
    const { row, now } = await engine.read(SERVICE, id);
    if (row.settledAt !== undefined) return row.settledAt - row.expiresAt;
    if (Date.now() > patientUntil) return;
    // A pause until well after the deadline: a read in between would disturb what is measured.
    await sleep(Math.max(0, row.expiresAt - now) + 1_000);
  }
}
