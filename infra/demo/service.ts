import { findRedis } from '../../test/harness/find-redis.ts';
import { type Pod, startPod, startWorker } from '../../test/harness/processes.ts';
import { createRoundRobin } from '../../test/harness/round-robin.ts';

/** A running Parley: pods behind a round-robin proxy, or one pod alone when there is no Redis. */
export interface Service {
  /** Where the proxy listens. */
  readonly url: string;
  readonly pods: readonly Pod[];
  readonly redisUrl: string | undefined;
  /** The pod whose log says this of an elicitation; nothing when no pod did (yet). */
  podThat(did: string, elicitationId: string): string | undefined;
  stop(): Promise<void>;
}

const POD_NAMES = ['pod-1', 'pod-2', 'pod-3'];

/** Starts Redis if it can be had, three pods, a proxy and a worker; says what it does. */
export async function startService(
  env: Record<string, string>,
  say: (text: string) => void,
): Promise<Service> {
  const redis = await findRedis();
  // Whoever names a Redis means that one.
  if ('notRun' in redis && process.env.REDIS_URL)
    throw new Error(`${redis.notRun} (start the Redis that REDIS_URL names, or unset it)`);
  const redisUrl = 'url' in redis ? redis.url : undefined;
  if (redisUrl === undefined)
    say('No Redis: one pod alone on the memory backend. Everything below works, in one process.');
  const names = redisUrl === undefined ? ['pod-1'] : POD_NAMES;
  const shared = { ...env, ...(redisUrl !== undefined && { REDIS_URL: redisUrl }) };
  const worker = redisUrl === undefined ? undefined : startWorker({ ...shared, PARLEY_POD: 'worker' });
  // A failed start of a pod is what gets reported, not the worker's that came beside it.
  worker?.catch(() => undefined);
  const pods = await Promise.all(names.map((name) => startPod({ ...shared, PARLEY_POD: name }, { name })));
  await worker;
  const proxy = await createRoundRobin({
    targets: pods.map((pod, index) => ({ name: names[index] ?? '', url: pod.url })),
  });
  say(`${names.join(', ')} behind ${proxy.url}${worker === undefined ? '' : ', and a worker for timers'}.`);
  return {
    url: proxy.url,
    pods,
    redisUrl,
    podThat(did, elicitationId) {
      const message = `elicitation ${did}`;
      const line = pods
        .flatMap((pod) => pod.lines)
        .find((text) => text.includes(elicitationId) && text.includes(message));
      return line === undefined ? undefined : (JSON.parse(line) as { pod: string }).pod;
    },
    async stop() {
      await proxy.close();
      await Promise.all([...pods.map((pod) => pod.stop()), worker?.then((running) => running.stop())]);
      if ('url' in redis) await redis.stop();
    },
  };
}
