import { deepStrictEqual } from 'node:assert';
import type { AskInput } from '@parley/core/domain/elicitations/ask-input';
import { bucketOf, type Owner } from '@parley/core/domain/ids';
import { createEngine, type Engine } from '@parley/shared/elicitations/engine';
import { silentObserver } from '@parley/shared/observe/observer';
import type { Backend } from '@parley/shared/ports/backend';
import type { Audit } from '@parley/shared/ports/elicitations/audit';
import type { RedisLocation } from '@parley/shared/ports/redis-location';
import { createRedisAudit } from '@parley/shared/redis/audit/audit';
import { createRedisBackend } from '@parley/shared/redis/backend';
import { connectCommands, connectProducer } from '@parley/shared/redis/client/connect';
import { canaryKey } from '@parley/shared/redis/client/keys';
import { createCanary } from '@parley/shared/redis/jobs/canary';
import { EXPIRY_QUEUE, openQueue } from '@parley/shared/redis/jobs/timers';
import { startWorkers, type WorkersOptions } from '@parley/shared/redis/jobs/workers';
import type { Queue } from 'bullmq';
import { createJobs } from '../../../services/worker/src/jobs.ts';
import { dispatchOn } from '../engines/engines.ts';
import { askQuestion, newStream, serviceOf } from '../engines/questions.ts';
import { ROOMY } from '../engines/settings.ts';
import { redisCommand } from '../redis/redis-command.ts';
import { waitUntil } from '../wait-until.ts';

/** Waits that end long after any worker, also on a busy machine and after a Redis that was unavailable. */
const PATIENT = { timeoutMs: 90_000, everyMs: 50 };

/** Settings of the engines of these tests. */
export const SETTINGS = {
  ...ROOMY,
  retentionMs: 3_600_000,
  messageCharactersMax: 10_000,
  schemaBytesMax: 32_768,
  schemaPropertiesMax: 50,
  allowLoopbackHttp: true,
  graceMs: 5_000,
  recheckMs: 1_000,
  knownBytesMax: 32 * 1024 * 1024,
};

export function single(url: string): RedisLocation {
  return { kind: 'single', url };
}

/** An engine on Redis with only the timers that are asked for, as a pod or a worker would have it. */
export interface TestPod {
  readonly engine: Engine;
  readonly backend: Backend;
  readonly audit: Audit;
  close(): Promise<void>;
}

export interface TestPodOptions {
  readonly location: RedisLocation;
  /** `queue`: armed deadlines become jobs. `none`: nothing fires by itself. */
  readonly timers?: 'queue' | 'none';
  readonly timerQueues?: number;
  readonly retentionMs?: number;
}

export async function startTestPod(options: TestPodOptions): Promise<TestPod> {
  const { location, timers = 'none', timerQueues = 1, retentionMs = SETTINGS.retentionMs } = options;
  const settings = { ...SETTINGS, retentionMs };
  const backend = createRedisBackend({ location, settings, timerQueues });
  const redis = connectCommands(location);
  redis.on('error', () => undefined);
  await waitUntil(async () => (await backend.health()).commands && redis.status === 'ready', {
    what: 'Redis to answer',
  });
  return {
    backend,
    engine: createEngine({
      ...backend,
      ...(timers === 'none' && { deadlineJobs: { add: async () => undefined } }),
      observer: silentObserver,
      deliveries: dispatchOn(backend),
      settings,
    }),
    audit: createRedisAudit({ redis, retentionMs, readsPerSecond: 1e6 }),
    async close() {
      redis.disconnect();
      await backend.close();
    },
  };
}

/** One question and how to look at it. */
export interface Question {
  readonly id: string;
  /** Its deadline on the Redis clock, in ms. */
  readonly expiresAt: number;
  readonly owner: Owner;
  readonly status: () => Promise<string>;
  /** How often its feed contains its end. */
  readonly endings: () => Promise<number>;
  /** How long after its deadline it ended, in ms on the Redis clock; negative would be too early. */
  readonly lateness: () => Promise<number>;
}

/** Asks a new user unless `owner` is given, on a new stream request; reads the question through `seenBy`. */
export async function question(
  asker: TestPod,
  more: Partial<AskInput> = {},
  seenBy: TestPod = asker,
  owner?: Owner,
): Promise<Question> {
  const stream = newStream(owner);
  const { row } = await askQuestion(asker.engine, stream, more);
  const read = async () => (await seenBy.engine.read(serviceOf(stream), row.id)).row;
  return {
    id: row.id,
    expiresAt: row.expiresAt,
    owner: stream,
    status: async () => (await read()).status,
    async endings() {
      const page = await seenBy.backend.feed.read(stream, undefined, 100);
      if (page.type !== 'entries') return 0;
      return page.entries.filter(({ event }) => event.type === 'elicitation-resolved').length;
    },
    async lateness() {
      const { settledAt = Number.NaN, expiresAt } = await read();
      return settledAt - expiresAt;
    },
  };
}

/** Waits until all have expired, then checks that each did so once and not before its time. */
export async function allExpire(questions: readonly Question[]): Promise<void> {
  for (const { id, status } of questions)
    await waitUntil(async () => (await status()) === 'expired', { what: `${id} to expire`, ...PATIENT });
  const seen = await Promise.all(
    questions.map(async (asked) => ({ early: (await asked.lateness()) < 0, endings: await asked.endings() })),
  );
  deepStrictEqual(
    seen,
    questions.map(() => ({ early: false, endings: 1 })),
  );
}

export interface TestWorker {
  /** All reports of the workers so far. */
  readonly faults: readonly unknown[];
  close(): Promise<void>;
}

/** Runs jobs in this process as a worker would, with the handlers of the worker service by default. */
export async function startTestWorker(
  pod: TestPod,
  location: RedisLocation,
  more: Partial<WorkersOptions> = {},
): Promise<TestWorker> {
  const redis = connectCommands(location);
  redis.on('error', () => undefined);
  const faults: unknown[] = [];
  const workers = startWorkers({
    location,
    timerQueues: 1,
    concurrency: 10,
    onError: (error) => faults.push(error),
    processors: createJobs({ engine: pod.engine, beat: createCanary(redis).beat }),
    ...more,
  });
  await workers.ready();
  return {
    faults,
    async close() {
      await workers.close(5_000);
      redis.disconnect();
    },
  };
}

/** Waits for a beat of the canary from now on. */
export async function nextBeat({ backend }: TestPod, port: number): Promise<void> {
  await redisCommand(port, 'DEL', canaryKey());
  await waitUntil(async () => (await backend.health()).timerCanaryAgeMs !== undefined, {
    what: 'the canary to beat',
    ...PATIENT,
  });
}

/** The job that fires at the deadline of a question, if its deadline is the armed one. */
export function jobIdOf({ owner, expiresAt }: Question): string {
  return `${bucketOf(owner)}-${expiresAt}`;
}

/** A look into a queue as an operator has it. */
export async function lookInto(
  location: RedisLocation,
  name: string = EXPIRY_QUEUE,
): Promise<{ readonly queue: Queue; close(): Promise<void> }> {
  const connection = connectProducer(location);
  connection.on('error', () => undefined);
  await waitUntil(() => connection.status === 'ready', { what: 'the look into a queue' });
  const queue = openQueue(connection, name, 0);
  return {
    queue,
    async close() {
      await queue.close();
      connection.disconnect();
    },
  };
}
