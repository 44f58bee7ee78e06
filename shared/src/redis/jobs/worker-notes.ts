import { parsed } from '@parley/core/domain/parsed';
import { z } from 'zod';
import type { WorkerStanding } from '../../ports/installation.ts';
import type { Commands } from '../client/connect.ts';
import { orUnavailable } from '../client/unavailable.ts';
import { timerPrefix } from './timers.ts';

/** How often a worker writes its note, in ms. */
export const NOTE_MS = 10_000;

/** A worker counts as alive until it has missed two notes. */
const ALIVE_MS = 3 * NOTE_MS;
// A worker is listed as gone for this long, and then forgotten.
const KEPT_MS = 3_600_000;
const WORKERS_MAX = 200;
/** Hash: the last note of each worker. */
const NOTES_KEY = `${timerPrefix(0)}:workers`;

/** A stored note. Times are in ms on the Redis clock. */
const Note = z.object({
  name: z.string(),
  at: z.number(),
  startedAt: z.number(),
  queues: z.array(z.string()),
  running: z.array(z.string()),
  rounds: z.record(z.string(), z.number()),
});

/** A worker's note about itself. It gives ages in ms, because its clock is not that of Redis. */
export interface WorkerNote {
  readonly name: string;
  readonly aliveMs: number;
  readonly queues: readonly string[];
  readonly running: readonly string[];
  readonly rounds: ReadonlyMap<string, number>;
}

/** The notes of one worker. Every method throws `unavailable`. */
export interface WorkerNotes {
  write(note: WorkerNote): Promise<void>;
  remove(): Promise<void>;
}

/** `holder` is a name that no other worker has. */
export function createWorkerNotes(
  redis: Commands,
  holder: string,
  onError?: (error: unknown) => void,
): WorkerNotes {
  return {
    write: ({ aliveMs, rounds, ...note }) =>
      orUnavailable(async () => {
        const at = await readTime(redis);
        const ended = [...rounds].map(([work, agoMs]) => [work, Math.round(at - agoMs)]);
        const startedAt = Math.round(at - aliveMs);
        const written = { ...note, at, startedAt, rounds: Object.fromEntries(ended) };
        const added = await redis.hset(NOTES_KEY, holder, JSON.stringify(written));
        await redis.pexpire(NOTES_KEY, KEPT_MS);
        // Reading removes old notes. Without this, workers that restart often would fill the hash while no operator reads it.
        if (added > 0) await readRecent(redis, at);
      }, onError),
    async remove() {
      await orUnavailable(() => redis.hdel(NOTES_KEY, holder), onError);
    },
  };
}

/** The workers, by name. Forgets those that have written no note for an hour. */
export async function readWorkers(redis: Commands): Promise<WorkerStanding[]> {
  const now = await readTime(redis);
  return (await readRecent(redis, now))
    .toSorted((a, b) => b.at - a.at)
    .slice(0, WORKERS_MAX)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, at, startedAt, queues, running, rounds }) => ({
      name,
      isAlive: now - at <= ALIVE_MS,
      startedAt,
      queues,
      running: now - at <= ALIVE_MS ? running : [],
      rounds: Object.entries(rounds).map(([work, endedAt]) => ({ work, at: endedAt })),
    }));
}

/** The notes of the last hour. Removes older ones. */
async function readRecent(redis: Commands, now: number): Promise<z.infer<typeof Note>[]> {
  const notes = Object.entries(await redis.hgetall(NOTES_KEY)).flatMap(([holder, text]) => {
    // A note of another build may be anything.
    const data = parsed(Note, text);
    return data === undefined ? [] : [{ holder, ...data }];
  });
  const past = notes.filter(({ at }) => now - at > KEPT_MS);
  if (past.length > 0) await redis.hdel(NOTES_KEY, ...past.map(({ holder }) => holder));
  return notes.filter(({ at }) => now - at <= KEPT_MS);
}

async function readTime(redis: Commands): Promise<number> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
}
