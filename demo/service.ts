import { createRoundRobin } from '../test/harness/http/round-robin.ts';
import { type ManagedProcess, type Pod, startPod, startWorker } from '../test/harness/processes/processes.ts';
import { findRedis } from '../test/harness/redis/find-redis.ts';

/** A running Parley: pods behind a load balancer, or, without Redis, a single pod. */
export interface Service {
  /** The address of the load balancer. */
  readonly url: string;
  readonly pods: readonly Pod[];
  readonly worker?: ManagedProcess;
  readonly redisUrl?: string;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  /** Makes the pods' environment, once the load balancer's address for browsers is known. */
  readonly environment: (publicUrl: string) => Promise<Readonly<Record<string, string>>>;
  /** This machine's name in people's browsers; by default 127.0.0.1. */
  readonly publicHost?: string;
  /** How the load balancer chooses a pod for a request; by default round robin. */
  readonly pick?: 'round-robin' | 'random';
  readonly print: (text: string) => void;
}

const POD_NAMES = ['pod-1', 'pod-2', 'pod-3'];

/** Starts a load balancer, Redis if it is available, three pods and a worker. Prints what it does. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { environment, publicHost = '127.0.0.1', pick = 'round-robin', print } = options;
  const redis = await findRedis();
  // A Redis that is set explicitly must be used, so its failure is an error.
  if ('notRun' in redis && process.env.REDIS_URL)
    throw new Error(`${redis.notRun} (start the Redis that REDIS_URL names, or unset it)`);
  const redisUrl = 'url' in redis ? redis.url : undefined;
  if (redisUrl === undefined)
    print('No Redis: one pod alone on the memory backend. Everything below works, in one process.');
  const names = redisUrl === undefined ? ['pod-1'] : POD_NAMES;
  const proxy = await createRoundRobin({ targets: [], pick });
  const shared = {
    ...(await environment(`http://${publicHost}:${proxy.port}`)),
    ...(redisUrl !== undefined && { REDIS_URL: redisUrl }),
  };
  const working = redisUrl === undefined ? undefined : startWorker({ ...shared, PARLEY_POD: 'worker' });
  // If a pod fails to start, its error is reported, and not the worker's.
  working?.catch(() => undefined);
  const pods = await Promise.all(names.map((name) => startPod({ ...shared, PARLEY_POD: name }, { name })));
  const worker = await working;
  await proxy.setTargets(pods.map((pod, index) => ({ name: names[index] ?? '', url: pod.url })));
  print(`${names.join(', ')} behind ${proxy.url}${worker === undefined ? '' : ', and a worker for timers'}.`);
  return {
    url: proxy.url,
    pods,
    ...(worker !== undefined && { worker }),
    ...(redisUrl !== undefined && { redisUrl }),
    async stop() {
      await proxy.close();
      await Promise.all([...pods.map((pod) => pod.stop()), worker?.stop()]);
      if ('url' in redis) await redis.stop();
    },
  };
}
