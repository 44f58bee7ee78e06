import { type ConnectionOptions, Queue, QueueEvents, Worker } from 'bullmq';
import { microseconds } from '../measurement.ts';
import { QUESTION } from '../pod/engine.ts';
import type { Contender } from '../processes/contenders.ts';

const QUEUE = 'questions';
// More than a round has waits: each keeps its job in the worker until the answer is there.
const CONCURRENCY = 10_000;
const RETENTION_SECONDS = 86_400;

/**
 * The asker adds a job and waits for its end. A worker takes the job, shows the question, and returns the answer when a
 * person gives it.
 */
export async function openPeer(address: string): Promise<Contender> {
  const { hostname, port } = new URL(address);
  const connection = { host: hostname, port: Number(port), maxRetriesPerRequest: null };
  let asker: ReturnType<typeof createAsker> | undefined;
  let answerer: ReturnType<typeof createAnswerer> | undefined;
  return {
    open(count, _streams, onResumed) {
      asker ??= createAsker(connection);
      return asker(count, onResumed);
    },
    async prepare(ids) {
      answerer ??= createAnswerer(connection);
      await answerer.taken(ids);
    },
    settle: async (id) => answerer?.settle(id),
  };
}

function createAsker(connection: ConnectionOptions) {
  const queue = new Queue(QUEUE, { connection });
  const events = new QueueEvents(QUEUE, { connection });
  // Each wait adds a listener.
  queue.setMaxListeners(0);
  events.setMaxListeners(0);
  return async (count: number, onResumed: (startedAt: number) => void): Promise<string[]> => {
    await events.waitUntilReady();
    const jobs = await queue.addBulk(
      Array.from({ length: count }, () => ({
        name: 'question',
        data: QUESTION,
        opts: { removeOnComplete: { age: RETENTION_SECONDS } },
      })),
    );
    for (const job of jobs) {
      void job.waitUntilFinished(events).then((answer: { readonly at: number }) => onResumed(answer.at));
    }
    // Every wait reads its job once; those reads must not fall into the race.
    await new Promise((resolve) => setTimeout(resolve, 200));
    return jobs.map(({ id = '' }) => id);
  };
}

function createAnswerer(connection: ConnectionOptions) {
  const answering = new Map<string, (answer: object) => void>();
  const completing = new Map<string, () => void>();
  const worker = new Worker(
    QUEUE,
    ({ id = '' }) => new Promise<object>((resolve) => answering.set(id, resolve)),
    { connection, concurrency: CONCURRENCY },
  );
  worker.on('completed', ({ id = '' }) => {
    completing.get(id)?.();
    completing.delete(id);
  });
  worker.on('error', (error) => console.error(error));
  return {
    async taken(ids: readonly string[]): Promise<void> {
      while (!ids.every((id) => answering.has(id))) await new Promise((resolve) => setTimeout(resolve, 20));
    },
    async settle(id: string): Promise<void> {
      const completed = new Promise<void>((resolve) => completing.set(id, resolve));
      answering.get(id)?.({ environment: 'staging', at: microseconds() });
      answering.delete(id);
      await completed;
    },
  };
}
