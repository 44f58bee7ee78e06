/** Builds a worker from its environment. Jobs are in `jobs.ts`, periodic work in `maintenance.ts`. */

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { BUCKET_COUNT } from '@parley/core/domain/ids';
import { startRounds } from '@parley/shared/async/rounds';
import { backendSettings, type Env, engineSettings } from '@parley/shared/config/env';
import type { Dispatch } from '@parley/shared/delivery/dispatch';
import { startDispatching } from '@parley/shared/delivery/dispatch-loop';
import { createEngine, type Engine } from '@parley/shared/elicitations/engine';
import { createLog, type Log } from '@parley/shared/observe/log';
import { createMetrics, type Metrics, metricsOptions } from '@parley/shared/observe/metrics';
import { createObserver } from '@parley/shared/observe/observer';
import type { Telemetry } from '@parley/shared/observe/telemetry';
import type { Backend } from '@parley/shared/ports/backend';
import type {
  Audit,
  CleanupReport,
  IndexReport,
  PendingReport,
} from '@parley/shared/ports/elicitations/audit';
import type { RedisLocation } from '@parley/shared/ports/redis-location';
import { createRedisAudit } from '@parley/shared/redis/audit/audit';
import { createExclusive } from '@parley/shared/redis/audit/exclusive';
import { createRedisBackend } from '@parley/shared/redis/backend';
import { type Commands, connectCommands, firstAttempt } from '@parley/shared/redis/client/connect';
import { diagnose } from '@parley/shared/redis/diagnosis/diagnose';
import { createCanary } from '@parley/shared/redis/jobs/canary';
import { createWorkerNotes, NOTE_MS } from '@parley/shared/redis/jobs/worker-notes';
import { startWorkers, type Workers } from '@parley/shared/redis/jobs/workers';
import { offerOrphans } from '@parley/shared/runs/offer-orphans';
import { createProcessDispatch } from '@parley/shared/runtime/dispatch';
import { createReleasers, type Releasers } from '@parley/shared/runtime/lifecycle';
import { checkRedis, watchRedis } from '@parley/shared/runtime/watch-redis';
import { type Activity, createActivity } from './activity.ts';
import { createFaultLog } from './faults.ts';
import { createJobs, notedJobs } from './jobs.ts';
import { type MaintenanceDeps, startMaintenance } from './maintenance.ts';
import { createOps } from './ops.ts';

interface WorkerPod {
  readonly log: Log;
  readonly ops: RequestListener;
  /** Resolves when jobs are processed. Waits for Redis without a limit. Rejects if Redis is too old. */
  readonly ready: () => Promise<void>;
  /** Finishes running jobs, within half of the shutdown time, and releases all resources. */
  readonly release: () => Promise<void>;
}

// The number of parallel jobs. A job expires the overdue elicitations of one bucket, and no bucket must wait for another.
const JOBS_AT_A_TIME = 2 * BUCKET_COUNT;

/**
 * Builds a worker from its environment, and connects before its work begins. A Redis that is not available yet delays the
 * start by at most two seconds.
 */
export async function wireWorker(
  env: Env,
  location: RedisLocation,
  telemetry: Telemetry,
): Promise<WorkerPod> {
  const releasers = createReleasers();
  const log = createLog({ service: 'parley-worker', level: env.PARLEY_LOG_LEVEL, pod: env.PARLEY_POD });
  releasers.add(() => telemetry.shutdown());
  const metrics = createMetrics(telemetry.meter, metricsOptions(env));
  const backend = createRedisBackend({
    location,
    settings: backendSettings(env),
    timerQueues: env.PARLEY_TIMER_QUEUES,
    onError: () => metrics.redisCommandErrors.add(1),
  });
  releasers.add(() => backend.close());
  const redis = connectCommands(location);
  releasers.add(() => redis.disconnect());
  await Promise.all([backend.opened(), firstAttempt(redis)]);
  const onError = createFaultLog(log);
  const dispatch = createProcessDispatch({ env, backend, log, metrics });
  const engine = createEngine({
    ...backend,
    deliveries: dispatch,
    observer: createObserver({ log, tracer: telemetry.tracer, metrics }),
    settings: engineSettings(env),
  });
  const parts = { env, location, redis, engine, backend, dispatch, onError, log, metrics, releasers };
  const untilReady = takeJobs(parts);
  let working = false;
  releasers.add(() => {
    working = false;
  });
  const isUsable = async () => (await backend.health()).commands;
  const redisWatch = watchRedis({ diagnose: () => diagnose(location), isUsable, log });
  releasers.add(redisWatch.stop);
  return {
    log,
    ops: createOps({
      health: () => backend.health(),
      redisFault: redisWatch.fault,
      working: () => working,
      metrics: telemetry.metricsHandler,
    }),
    async ready() {
      await untilReady;
      checkRedis(await diagnose(location), log);
      working = true;
    },
    release: () => releasers.release(),
  };
}

interface WorkerParts {
  readonly env: Env;
  readonly location: RedisLocation;
  readonly redis: Commands;
  readonly engine: Engine;
  readonly backend: Backend;
  readonly dispatch: Dispatch;
  readonly onError: (error: unknown, job?: string) => void;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly releasers: Releasers;
}

/** Starts the processing of jobs, deliveries and maintenance. Resolves when jobs are accepted. */
async function takeJobs(parts: WorkerParts): Promise<void> {
  const { env, location, redis, engine, backend, onError, metrics, releasers } = parts;
  const onCommandError = () => metrics.redisCommandErrors.add(1);
  const canary = createCanary(redis, onCommandError);
  const activity = createActivity();
  const holder = `${env.PARLEY_POD}/${randomUUID()}`;
  const workers = startWorkers({
    location,
    timerQueues: env.PARLEY_TIMER_QUEUES,
    concurrency: JOBS_AT_A_TIME,
    onError,
    processors: notedJobs(createJobs({ engine, beat: canary.beat }), activity),
  });
  const dispatching = startDispatching({
    outbox: backend.outbox,
    dispatch: parts.dispatch,
    everyMs: env.PARLEY_OUTBOX_MS,
    onError,
  });
  // This is released after the loop, when no more tasks begin.
  releasers.add(async () => {
    await Promise.race([parts.dispatch.idle(), sleep(env.PARLEY_DRAIN_MS / 4, undefined, { ref: false })]);
  });
  releasers.add(dispatching.stop);
  releasers.add(() => workers.close(env.PARLEY_DRAIN_MS / 2));
  releasers.add(maintain(parts, { holder, activity, sendCanary: canary.send }));
  releasers.add(tellOfItself({ ...parts, holder, activity, workers }));
  await workers.ready();
}

/** Starts the periodic work. The returned function ends it. */
function maintain(
  parts: WorkerParts,
  own: Pick<MaintenanceDeps, 'holder' | 'activity' | 'sendCanary'>,
): () => Promise<void> {
  const { env, redis, engine, backend, onError, metrics } = parts;
  const onCommandError = () => metrics.redisCommandErrors.add(1);
  const { retentionMs } = backendSettings(env);
  const audit = createRedisAudit({ redis, retentionMs, onError: onCommandError });
  return startMaintenance({
    ...own,
    everyMs: {
      sweep: env.PARLEY_SWEEP_MS,
      'take-over': env.PARLEY_TAKE_OVER_MS,
      'index-check': env.PARLEY_INDEX_CHECK_MS,
      cleanup: env.PARLEY_CLEANUP_MS,
      canary: env.PARLEY_CANARY_MS,
    },
    engine,
    claims: backend.claims,
    audit,
    exclusively: createExclusive(redis, { onError: onCommandError }),
    offerOrphans: (input) => offerOrphans(backend, input),
    ...reportTo({ ...parts, audit }),
    onError,
  });
}

interface OwnStanding extends Pick<WorkerParts, 'env' | 'redis' | 'metrics'> {
  readonly holder: string;
  readonly activity: Activity;
  readonly workers: Pick<Workers, 'queues'>;
}

/** Records in Redis what this worker does, for operators. The returned function removes the record. */
function tellOfItself({ env, metrics, redis, holder, activity, workers }: OwnStanding): () => Promise<void> {
  const notes = createWorkerNotes(redis, holder, () => metrics.redisCommandErrors.add(1));
  const end = startRounds({
    round: () => notes.write({ name: env.PARLEY_POD, queues: workers.queues(), ...activity.read() }),
    everyMs: NOTE_MS,
    // A failed record is ignored, because the next one follows soon.
    onError: () => undefined,
  });
  return async () => {
    await end();
    await notes.remove().catch(() => undefined);
  };
}

type MaintenanceReports = Pick<MaintenanceDeps, 'onIndexReport' | 'onCleanupReport'>;

interface ReportDeps extends Pick<WorkerParts, 'log' | 'metrics' | 'backend' | 'dispatch'> {
  readonly audit: Pick<Audit, 'pending'>;
}

/** Exports the results of the audits as metrics and log lines. */
function reportTo({ log, metrics, backend, dispatch, audit }: ReportDeps): MaintenanceReports {
  // Before this worker's first check, the reported age is the worker's own.
  let checkedAt = performance.now();
  let counting: Promise<PendingReport> | undefined;
  /** Both gauges in a scrape come from the same count. */
  function count(): Promise<PendingReport> {
    counting ??= audit.pending().finally(() => {
      counting = undefined;
    });
    return counting;
  }
  metrics.observe({
    pending: async () => (await count()).open,
    overdue: async () => seconds((await count()).overdueMs),
    indexCheckAge: () => seconds(performance.now() - checkedAt),
    timerCanaryAge: async () => seconds((await backend.health()).timerCanaryAgeMs),
    outboxLag: async () => seconds(await dispatch.lagMs()),
  });
  return {
    onIndexReport(report: IndexReport, startedAt: number) {
      checkedAt = startedAt;
      metrics.indexRepairs.add(report.repaired);
      if (report.repaired > 0) log.warn(report, 'index entries repaired');
    },
    onCleanupReport(report: CleanupReport) {
      metrics.cleanupRemoved.add(report.removed);
      metrics.indexRepairs.add(report.repaired);
      if (report.removed + report.left + report.repaired > 0)
        log.warn(report, 'expired data found after its retention');
    },
  };
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1_000;
}

/** The version of this service, from its package manifest. */
export function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return (manifest as { version: string }).version;
}
