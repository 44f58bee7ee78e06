import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChaosProxy, createChaosProxy } from '../harness/chaos/proxy.ts';
import {
  type ManagedProcess,
  type Pod,
  type StartOptions,
  startPod,
  startWorker,
} from '../harness/processes/processes.ts';
import { TELLS_MEMORY } from '../harness/processes/resources.ts';
import { type RedisOptions, type RedisServer, startRedis } from '../harness/redis/redis-server.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { LOAD_ENV } from '../load/load-env.ts';
import { type Door, doorTo } from './door.ts';

type Env = Record<string, string>;

/** A pod with the calls to it. */
export type SitePod = Pod & Door;

/** A Redis, with pods and workers started on it as a test needs them. */
export interface Site {
  readonly redis: RedisServer;
  /** A pod straight on this Redis unless `env` says otherwise. */
  pod(env?: Env, options?: StartOptions): Promise<SitePod>;
  worker(env?: Env, options?: StartOptions): Promise<ManagedProcess>;
  /** A way to this Redis that can be broken. */
  proxy(): Promise<ChaosProxy>;
  /** Ends what was started since the start of the site, or since the last call; Redis stays. */
  clear(): Promise<void>;
  /** Ends everything. */
  stop(): Promise<void>;
}

/**
 * Nothing looks again by itself within a test: what is found there was told by a wake, a resync, a timer or a job. A
 * test that is about the slow look or the sweep says so in the environment of its pods.
 */
const PATIENT_ENV = {
  ...LOAD_ENV,
  PARLEY_RECHECK_MS: '600000',
  PARLEY_SWEEP_MS: '600000',
  PARLEY_DRAIN_DELAY_MS: '0',
} as const;

/** Starts a Redis for a file of tests. */
export async function openSite(options: RedisOptions = {}): Promise<Site> {
  const redis = await startRedis(options);
  const processes: ManagedProcess[] = [];
  const proxies: ChaosProxy[] = [];
  const clear = async () => {
    await Promise.all(processes.splice(0).map((each) => each.stop()));
    await Promise.all(proxies.splice(0).map((each) => each.close()));
  };
  return {
    redis,
    clear,
    async pod(env = {}, more = {}) {
      const pod = await startPod({ ...PATIENT_ENV, REDIS_URL: redis.url, ...env }, more);
      processes.push(pod);
      return { ...pod, ...doorTo(pod) };
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
      await redis.stop();
    },
  };
}

const SHARED_MEMORY = '/dev/shm';

/**
 * Starts a Redis that keeps its files in memory, for a file of tests that kills it. While an fsync runs, Redis holds the
 * next write to its file back, and a kill -9 loses what it holds back. How long that takes is up to the disk; in memory it
 * takes no time, so that only the promise is left to judge.
 */
export async function openSiteInMemory(options: RedisOptions = {}): Promise<Site> {
  const dir = await mkdtemp(join(existsSync(SHARED_MEMORY) ? SHARED_MEMORY : tmpdir(), 'parley-faults-'));
  const site = await openSite({ ...options, dir });
  return {
    ...site,
    async stop() {
      await site.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** A pod whose way to Redis can be broken, and one straight on it. */
export interface TwoPods {
  readonly site: Site;
  readonly proxy: ChaosProxy;
  readonly far: SitePod;
  readonly near: SitePod;
}

/** Opens a site with a far pod, which tells its memory, and a near one; `env` is for both. */
export async function openTwoPods(env: Env = {}): Promise<TwoPods> {
  const site = await openSite();
  const proxy = await site.proxy();
  const [far, near] = await Promise.all([
    site.pod({ ...env, REDIS_URL: proxy.url }, { nodeArgs: TELLS_MEMORY }),
    site.pod(env),
  ]);
  return { site, proxy, far, near };
}

/** Waits until a pod says it is ready: after a fault it may need a moment to be connected again. */
export async function untilReady({ url }: { readonly url: string }): Promise<void> {
  const ready = async () => {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) });
    const text = await response.text();
    if (response.status !== 200) throw new Error(text);
    return true;
  };
  await waitUntil(ready, { what: 'the pod to be ready', timeoutMs: 60_000 });
}
