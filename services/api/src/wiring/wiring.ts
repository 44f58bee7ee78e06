/**
 * Builds a whole pod, and is the only place of the api that picks the backend. The parts are built in the files beside this
 * one.
 */

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { startRounds } from '@parley/shared/async/rounds';
import { backendSettings, type Env, engineSettings, leaseTiming } from '@parley/shared/config/env';
import { ownVaultLocation, redisLocation } from '@parley/shared/config/redis-env';
import type { Dispatch } from '@parley/shared/delivery/dispatch';
import { startDispatching } from '@parley/shared/delivery/dispatch-loop';
import { createWebhooks } from '@parley/shared/delivery/webhooks';
import { createEngine, type Engine } from '@parley/shared/elicitations/engine';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import { createLocalTimers } from '@parley/shared/memory/timers';
import { createLog, type Log } from '@parley/shared/observe/log';
import { createMetrics, type Metrics, metricsOptions } from '@parley/shared/observe/metrics';
import { createObserver } from '@parley/shared/observe/observer';
import type { Telemetry } from '@parley/shared/observe/telemetry';
import type { Backend } from '@parley/shared/ports/backend';
import type { diagnose } from '@parley/shared/redis/diagnosis/diagnose';
import { startLease } from '@parley/shared/runs/lease';
import { createProcessDispatch } from '@parley/shared/runtime/dispatch';
import { withNotices } from '../agents/run/reach.ts';
import { healthRoutes } from '../http/health.ts';
import { createDrain, type Drain } from '../http/life/drain.ts';
import { createHeartbeats } from '../http/life/heartbeats.ts';
import { createOpenings } from '../http/limits/openings.ts';
import { createRefusalDelays } from '../http/limits/refusal-delays.ts';
import type { Surface } from '../http/route.ts';
import type { Router } from '../http/router.ts';
import { createServe } from '../http/serve.ts';
import { aiSdkRoutes } from '../surfaces/ai-sdk/routes.ts';
import { restRoutes } from '../surfaces/rest/routes.ts';
import { wireAdmin } from './admin.ts';
import type { AgentsParts, WiredAgents } from './agents.ts';
import { createApp } from './app.ts';
import { createAuthentication } from './authentication.ts';
import { createLimits } from './call-limits.ts';
import { wireEraseConversation, wireEraseUser } from './erase-user.ts';
import { wireAnswerPages } from './pages/answer-pages.ts';
import { wireConsole } from './pages/console.ts';
import type { PodParts } from './pod-parts.ts';
import { type RedisWatches, watchEveryRedis } from './redis-watches.ts';
import type { WiredSlack } from './slack.ts';

export interface Pod {
  readonly app: Router;
  readonly metrics: RequestListener;
  readonly log: Log;
  readonly backendKind: 'memory' | 'redis';
  readonly engine: Engine;
  /** True once commands are answered and the subscription is acknowledged. */
  readonly ready: () => Promise<boolean>;
  /** Rejects if Redis is too old. Redis must already answer. */
  readonly checkRedis: () => Promise<void>;
  /** Makes the pod not ready, and ends its streams and long polls, whose clients continue on another pod. */
  readonly startDraining: () => void;
  /** Stops the turns, timers and sweeps, and closes Redis and telemetry. */
  readonly release: () => Promise<void>;
}

const SLOW_READER_MS = 30_000;

/**
 * Builds a pod from its environment. `release` also ends its telemetry. Only this function selects the backend. It loads parts
 * that only some pods need on demand: a pod without agents starts in half the time, and a pod in memory needs no Redis client.
 */
export async function wirePod(env: Env, telemetry: Telemetry): Promise<Pod> {
  const version = readVersion();
  const log = createLog({ service: 'parley-api', level: env.PARLEY_LOG_LEVEL, pod: env.PARLEY_POD });
  const metrics = createMetrics(telemetry.meter, metricsOptions(env));
  const location = redisLocation(env);
  const backend = await openBackend(env, metrics);
  const isReady = async () => {
    const { commands, subscription } = await backend.health();
    return commands && subscription;
  };
  const redisWatches = watchEveryRedis({ env, backend, isReady, diagnose: lookAtRedis, log });
  metrics.observe({ timerCanaryAge: async () => secondsOf((await backend.health()).timerCanaryAgeMs) });
  const localTimers = createLocalTimers({
    onDue: (ids) => engine.expireFired(ids),
    timersMax: env.PARLEY_LIMIT_LOCAL_TIMERS,
  });
  const dispatch = createProcessDispatch({ env, backend, log, metrics });
  const engine = createEngine({
    ...backend,
    deliveries: dispatch,
    timers: localTimers,
    observer: createObserver({ log, tracer: telemetry.tracer, metrics, context: telemetry.context }),
    settings: engineSettings(env),
  });
  const drain = createDrain();
  const owner = `${env.PARLEY_POD}/${randomUUID()}`;
  const lease = startLease(backend.heartbeats, owner, leaseTiming(env), () => undefined);
  const callChecks = {
    authenticate: createAuthentication(env, log),
    limits: createLimits({ env, backend, metrics, owner, lease }),
  };
  const parts = { env, version, backend, engine, log, metrics, drain, ...callChecks };
  const configured = await loadConfigured({ ...parts, tracer: telemetry.tracer });
  const { agents, slack } = configured;
  const app = createPodApp({ ...parts, deliveries: dispatch, redisWatches, ...configured });
  const stopSweeping = startRounds({
    round: (signal) => engine.sweepInTurn({ holder: owner, everyMs: env.PARLEY_SWEEP_MS }, signal),
    everyMs: env.PARLEY_SWEEP_MS,
    onError(error) {
      metrics.redisCommandErrors.add(1);
      log.warn({ err: error }, 'sweep failed; the next round retries');
    },
  });
  // Without Redis there is no worker, so the pod dispatches the outbox itself.
  const stopDelivering =
    location === undefined ? startDelivering({ env, backend, log }, dispatch) : async () => undefined;
  return {
    app: (req, res) => telemetry.continuing(req.headers, () => app(req, res)),
    metrics: telemetry.metricsHandler,
    log,
    backendKind: location === undefined ? 'memory' : 'redis',
    engine,
    ready: isReady,
    checkRedis: async () => redisWatches?.check(),
    startDraining: drain.begin,
    async release() {
      redisWatches?.stop();
      await slack?.close();
      await agents?.close();
      lease.stop();
      localTimers.close();
      await Promise.all([stopSweeping(), stopDelivering()]);
      await backend.close();
      await telemetry.shutdown();
    },
  };
}

function startDelivering(
  { env, backend, log }: Pick<PodParts, 'env' | 'backend' | 'log'>,
  dispatch: ReturnType<typeof createProcessDispatch>,
): () => Promise<void> {
  return startDispatching({
    outbox: backend.outbox,
    dispatch,
    everyMs: env.PARLEY_OUTBOX_MS,
    onError: (err) => log.warn({ err }, 'the outbox could not be read; the next round retries'),
  }).stop;
}

/** Opens the back end. A Redis that is not available yet delays the start by at most two seconds. */
async function openBackend(env: Env, metrics: Metrics): Promise<Backend> {
  const location = redisLocation(env);
  const settings = backendSettings(env);
  if (location === undefined) return createMemoryBackend(settings);
  const vault = ownVaultLocation(env);
  const { createRedisBackend } = await import('@parley/shared/redis/backend');
  const backend = createRedisBackend({
    location,
    ...(vault !== undefined && { vaultLocation: vault }),
    settings,
    timerQueues: env.PARLEY_TIMER_QUEUES,
    onError: () => metrics.redisCommandErrors.add(1),
  });
  await backend.opened();
  return backend;
}

const lookAtRedis: typeof diagnose = async (...look) =>
  (await import('@parley/shared/redis/diagnosis/diagnose')).diagnose(...look);

/** Parts that only some pods have. */
interface Configured {
  readonly agents?: WiredAgents;
  readonly agentSurfaces: readonly Surface[];
  readonly slack?: WiredSlack;
}

/** Loads this pod's agents and their surfaces, and Slack, if they are configured. */
async function loadConfigured(parts: AgentsParts & Pick<AppParts, 'drain'>): Promise<Configured> {
  const { PARLEY_CONFIG: config } = parts.env;
  if (config === undefined) return { agentSurfaces: [] };
  const [{ wireAgents }, { wireAgentSurfaces }] = await Promise.all([
    import('./agents.ts'),
    import('./agent-surfaces.ts'),
  ]);
  const agents = wireAgents(parts, config);
  const agentSurfaces = wireAgentSurfaces(parts, agents);
  const pages = agents.accounts?.pages;
  if (pages === undefined || parts.env.PARLEY_SLACK_CLIENT_ID === undefined) return { agents, agentSurfaces };
  const { wireSlack } = await import('./slack.ts');
  const slack = wireSlack({ ...parts, turns: agents.turns, pages });
  return { agents, agentSurfaces, ...(slack !== undefined && { slack }) };
}

interface AppParts extends PodParts, Configured {
  readonly redisWatches: RedisWatches | undefined;
  readonly drain: Drain;
  readonly deliveries: Dispatch;
}

function createPodApp(parts: AppParts): Router {
  const { env, version, log, metrics, drain, authenticate, limits } = parts;
  const console = wireConsole(parts);
  const serve = createServe({
    authenticate,
    operators: console.operators,
    limits,
    refusalDelays: createRefusalDelays({ delayMs: env.PARLEY_REFUSAL_DELAY_MS }),
    openings: createOpenings({
      openingsMax: env.PARLEY_LIMIT_POD_OPENINGS,
      ofPersonMax: env.PARLEY_LIMIT_USER_STREAMS,
      onRefused: () => metrics.rateLimited.add(1, { limit: 'pod-openings' }),
    }),
    bodyBytesMax: env.PARLEY_LIMIT_BODY_BYTES,
    messagesBytesMax: Math.max(env.PARLEY_LIMIT_MESSAGES_BYTES, env.PARLEY_LIMIT_BODY_BYTES),
    sse: { heartbeats: createHeartbeats(env.PARLEY_HEARTBEAT_MS), slowReaderMs: SLOW_READER_MS, drain },
    onDone({ route, method, status, durationMs }) {
      metrics.httpRequests.add(1, { route, method, status });
      metrics.httpRequestDuration.record(durationMs / 1000, { route, method });
    },
    onFault: (error, at) => log.error({ err: error, ...at }, 'request failed unexpectedly'),
    onStream(change, resumed) {
      metrics.sseConnections.add(change);
      if (change === 1 && resumed) metrics.sseResumes.add(1);
    },
  });
  return createApp({
    serve,
    surfaces: createSurfaces({ ...parts, consoleSurface: console.surface }),
    corsOrigins: env.PARLEY_CORS_ORIGINS,
    version,
  });
}

/** Every surface of the pod, one per line. */
function createSurfaces(parts: AppParts & { readonly consoleSurface: Surface }): Surface[] {
  const { env, backend, engine, limits, drain, agents, slack } = parts;
  const turns = agents?.turns;
  const accounts = agents?.accounts;
  const webhooks = createWebhooks({ ...backend, ...backendSettings(env) });
  const eraseUser = wireEraseUser({
    ...parts,
    deliveryKinds: [...parts.deliveries.kinds, ...(slack?.deliveryKinds ?? [])],
    disconnectAll: accounts?.disconnectAll,
    unlink: slack?.unlink,
  });
  const workflows = {
    records: backend.ownerRecords.workflows,
    keptMs: env.PARLEY_RETENTION_SECONDS * 1000,
    positionsMax: env.PARLEY_LIMIT_WORKFLOW_POSITIONS,
    entryCharactersMax: env.PARLEY_LIMIT_WORKFLOW_ENTRY_CHARACTERS,
  };
  const hasConnectPage = accounts?.hasConnectPage ?? (() => false);
  // Notices need a configured channel: the delivery task of an absent channel would never be done.
  const asking = withNotices(engine, slack === undefined ? undefined : agents?.notify);
  return [
    healthRoutes({ health: () => backend.health(), redisFault: () => parts.redisWatches?.fault(), drain }),
    restRoutes({ engine: asking, limits, webhooks, hasConnectPage, eraseUser, workflows }),
    wireAdmin(parts, slack?.channel, accounts?.listAccounts),
    parts.consoleSurface,
    aiSdkRoutes({ engine, limits, turns, eraseConversation: wireEraseConversation(parts) }),
    ...parts.agentSurfaces,
    // These come before the account pages, which serve the rest of /auth.
    ...wireAnswerPages(parts, accounts?.pages),
    ...(slack?.surfaces ?? []),
    ...(accounts === undefined ? [] : accounts.surfaces),
  ];
}

function secondsOf(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : milliseconds / 1000;
}

/** The version of this service, from its package manifest. */
export function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return (manifest as { version: string }).version;
}
