import { Redis } from 'ioredis';
import type { Bench } from '../bench.ts';
import type { Measurement } from '../measurement.ts';
import { profileNode } from '../node-profile.ts';
import { openBenchEngine, QUESTION, TENANT, userOf } from '../pod/engine.ts';
import { answer, beginTurn, openTurnPod } from '../pod/turn-pod.ts';
import { type CommandUse, commandUse, cpuSeconds } from '../redis-usage.ts';
import { inSlots } from '../slots.ts';

const QUESTIONS = 5_000;
const UNDER_WAY = 64;
const TURNS = 120;
const TURN_SLOTS = 40;
const WORD_MS = 33;
/** Parts below this share of the time are added up. */
const SHOWN_SHARE = 0.03;

/** Where the time of asks, answers and turns goes: in this process, and in Redis. */
export async function profile(bench: Bench): Promise<Measurement[]> {
  const redis = new Redis(bench.redisUrl);
  const look = (what: string, count: number, run: () => Promise<unknown>) =>
    lookAt(redis, { what, count, run, progress: bench.progress });
  const { engine, backend } = await openBenchEngine(bench.redisUrl);
  const asked: { userId: string; id: string }[] = [];
  const ask = async (index: number) => {
    const userId = userOf(index);
    const input = { ...QUESTION, userId, streamRequestId: `stream-of-${userId}` };
    const { row } = await engine.ask({ tenant: TENANT, input: input as never });
    asked.push({ userId: row.definition.userId, id: row.id });
  };
  const settle = async (index: number) => {
    const { userId = '', id = '' } = asked[index] ?? {};
    await engine.answer({
      caller: { kind: 'user', tenant: TENANT, userId },
      id,
      response: { action: 'accept', content: { environment: 'staging', at: 1 } },
      surface: 'api',
    });
  };
  const count = bench.scaled(QUESTIONS, 20);
  const warm = bench.scaled(QUESTIONS / 5, 20);
  await inSlots(warm, UNDER_WAY, ask);
  await inSlots(warm, UNDER_WAY, settle);
  asked.length = 0;
  const rows = [
    ...(await look('an ask on a shared stream request', count, () => inSlots(count, UNDER_WAY, ask))),
    ...(await look('an answer to it', count, () => inSlots(count, UNDER_WAY, settle))),
  ];
  await backend.close();
  rows.push(...(await lookAtTurns(bench, look)));
  await redis.quit();
  return rows;
}

async function lookAtTurns(
  { redisUrl, scaled }: Bench,
  look: (what: string, count: number, run: () => Promise<unknown>) => Promise<Measurement[]>,
): Promise<Measurement[]> {
  const pod = await openTurnPod(redisUrl, { wordMs: WORD_MS });
  const turn = async (index: number) => {
    const run = await beginTurn(pod, index, 'profile');
    await answer(pod, run, await pod.questionOf(run));
    await pod.finished(run);
  };
  const count = scaled(TURNS, 2);
  // Scripts are compiled, and code is optimised.
  await inSlots(count, TURN_SLOTS, (index) => turn(-1 - index));
  const rows = await look('a turn with one question, spoken', count, () => inSlots(count, TURN_SLOTS, turn));
  await pod.close();
  return rows;
}

interface Look {
  readonly what: string;
  readonly count: number;
  readonly run: () => Promise<unknown>;
  readonly progress: Bench['progress'];
}

async function lookAt(redis: Redis, { what, count, run, progress }: Look): Promise<Measurement[]> {
  const [before, cpuBefore] = [await commandUse(redis), await cpuSeconds(redis)];
  const parts = await profileNode(run);
  const [after, cpuAfter] = [await commandUse(redis), await cpuSeconds(redis)];
  const redisEach = ((cpuAfter - cpuBefore) * 1e6) / count;
  progress(`profile: ${what}`);
  return [
    { what: `${what}: in Node`, measured: formatShares(parts, count) },
    {
      what: `${what}: in Redis`,
      measured: formatShares(redisParts(before, after, redisEach * count), count),
    },
  ];
}

/** Microseconds in Redis by command, by the scripts themselves, and by what Redis does around the commands. */
function redisParts(
  before: ReadonlyMap<string, CommandUse>,
  after: ReadonlyMap<string, CommandUse>,
  wholeMicroseconds: number,
): ReadonlyMap<string, number> {
  const parts = new Map<string, number>();
  for (const [name, { microseconds }] of after) {
    const used = microseconds - (before.get(name)?.microseconds ?? 0);
    if (used > 0 && name !== 'info') parts.set(name, used);
  }
  const commands = [...parts].filter(([name]) => name !== 'evalsha');
  const inCommands = commands.reduce((sum, [, used]) => sum + used, 0);
  // Commands outside of scripts are few, so that nearly all of them ran within scripts.
  const scripts = Math.max(0, (parts.get('evalsha') ?? 0) - inCommands);
  parts.delete('evalsha');
  parts.set('Lua', scripts);
  parts.set('reading and writing sockets', Math.max(0, wholeMicroseconds - inCommands - scripts));
  return parts;
}

/** Microseconds each, the largest first; small ones are added up. */
function formatShares(parts: ReadonlyMap<string, number>, count: number): string {
  const sum = [...parts.values()].reduce((total, used) => total + used, 0);
  const shown = [...parts].filter(([, used]) => used >= SHOWN_SHARE * sum).sort(([, a], [, b]) => b - a);
  const rest = sum - shown.reduce((total, [, used]) => total + used, 0);
  const texts = [...shown, ['the rest', rest] as const].map(
    ([name, used]) => `${name} ${(used / count).toFixed(1)}`,
  );
  return `${(sum / count).toFixed(0)} us: ${texts.join(', ')}`;
}
