import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ScriptedModel,
  type ScriptedModelOptions,
  startScriptedModel,
} from '../../../stand-ins/scripted-model/scripted-model.ts';
import { type ChaosProxy, createChaosProxy } from '../chaos/proxy.ts';
import { LOAD_ENV } from '../load/load-env.ts';
import {
  type ManagedProcess,
  type Pod,
  type StartOptions,
  startPod,
  startWorker,
} from '../processes/processes.ts';
import { REPORTS_MEMORY } from '../processes/resources.ts';
import { type RedisOptions, type RedisServer, startRedis } from '../redis/redis-server.ts';
import { waitUntil } from '../wait-until.ts';
import { createPodClient, type PodClient } from './pod-client.ts';

type Env = Record<string, string>;

/** A pod with a client for it. */
export type SitePod = Pod & PodClient;

/** A Redis on which a test starts the pods and workers that it needs. */
export interface Site {
  readonly redis: RedisServer;
  /** Starts a pod that connects directly to this Redis unless `env` sets another URL. */
  pod(env?: Env, options?: StartOptions): Promise<SitePod>;
  worker(env?: Env, options?: StartOptions): Promise<ManagedProcess>;
  /** Starts a proxy to this Redis whose connections can be broken. */
  proxy(): Promise<ChaosProxy>;
  /** Starts a model for the agents of this site. */
  model(options: ScriptedModelOptions): Promise<ScriptedModel>;
  /** Writes an agents file whose model is at this URL; returns its path. */
  agents(modelUrl: string, rest: string): string;
  /** A folder that goes with the site. */
  readonly folder: string;
  /** Ends the processes and proxies started since the last call. */
  clear(): Promise<void>;
  /** Ends everything. */
  stop(): Promise<void>;
}

/**
 * Nothing polls within a test: every observed change came by a wake, a resync, a timer or a job. A test of polling or
 * of the sweep sets so in the environment of its pods.
 */
const PATIENT_ENV = {
  ...LOAD_ENV,
  PARLEY_RECHECK_MS: '600000',
  PARLEY_SWEEP_MS: '600000',
  PARLEY_DRAIN_DELAY_MS: '0',
} as const;

/** Sets what PATIENT_ENV changes to what it is where nothing is set. */
export const DEFAULTS = {
  PARLEY_RECHECK_MS: '',
  PARLEY_SWEEP_MS: '',
  PARLEY_DRAIN_DELAY_MS: '',
} as const;

/** Starts a Redis for one test file. */
export async function openSite(options: RedisOptions = {}): Promise<Site> {
  const redis = await startRedis(options);
  const folder = mkdtempSync(join(tmpdir(), 'parley-site-'));
  const models: ScriptedModel[] = [];
  const processes: ManagedProcess[] = [];
  const proxies: ChaosProxy[] = [];
  const clear = async () => {
    await Promise.all(processes.splice(0).map((each) => each.stop()));
    await Promise.all(proxies.splice(0).map((each) => each.close()));
  };
  return {
    redis,
    folder,
    clear,
    async model(given) {
      const model = await startScriptedModel(given);
      models.push(model);
      return model;
    },
    agents(modelUrl, rest) {
      const path = join(folder, `agents-${randomUUID()}.yaml`);
      writeFileSync(
        path,
        `models:
  scripted: { provider: openai-compatible, baseUrl: "${modelUrl}", model: scripted }
${rest}`,
      );
      return path;
    },
    async pod(env = {}, more = {}) {
      const pod = await startPod({ ...PATIENT_ENV, REDIS_URL: redis.url, ...env }, more);
      processes.push(pod);
      return { ...pod, ...createPodClient(pod) };
    },
    async worker(env = {}, more = {}) {
      const worker = await startWorker({ ...PATIENT_ENV, REDIS_URL: redis.url, ...env }, more);
      processes.push(worker);
      return worker;
    },
    async proxy() {
      const proxy = await createChaosProxy({ targetPort: redis.port });
      proxies.push(proxy);
      return proxy;
    },
    async stop() {
      await clear();
      await Promise.all(models.map((model) => model.stop()));
      await redis.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const SHARED_MEMORY = '/dev/shm';

/**
 * Starts a Redis that keeps its files in memory, for a test file that kills it. While an fsync runs, Redis delays the
 * next write to its file, and a kill -9 loses the delayed writes. The duration depends on the disk; in memory it is
 * zero, so that the tests judge only what Redis promises.
 */
export async function openSiteInMemory(options: RedisOptions = {}): Promise<Site> {
  const dir = await createMemoryFolder();
  const site = await openSite({ ...options, dir });
  return {
    ...site,
    async stop() {
      await site.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Creates a folder for files in memory, where the system has such a place. */
export function createMemoryFolder(): Promise<string> {
  return mkdtemp(join(existsSync(SHARED_MEMORY) ? SHARED_MEMORY : tmpdir(), 'parley-faults-'));
}

/** A pod whose connection to Redis can be broken (`far`), and one with a direct connection (`near`). */
export interface TwoPods {
  readonly site: Site;
  readonly proxy: ChaosProxy;
  readonly far: SitePod;
  readonly near: SitePod;
}

/** Opens a site with a far pod, which reports its memory, and a near one; `env` applies to both. */
export async function openTwoPods(env: Env = {}): Promise<TwoPods> {
  const site = await openSite();
  const proxy = await site.proxy();
  const [far, near] = await Promise.all([
    site.pod({ ...env, REDIS_URL: proxy.url }, { nodeArgs: REPORTS_MEMORY }),
    site.pod(env),
  ]);
  return { site, proxy, far, near };
}

/** Waits until a pod is ready: after a fault it may need a moment to reconnect. */
export async function untilReady({ url }: { readonly url: string }): Promise<void> {
  const ready = async () => {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) });
    const text = await response.text();
    if (response.status !== 200) throw new Error(text);
    return true;
  };
  await waitUntil(ready, { what: 'the pod to be ready', timeoutMs: 60_000 });
}
