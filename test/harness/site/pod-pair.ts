import { randomBytes } from 'node:crypto';
import { createRoundRobin, type RoundRobin } from '../http/round-robin.ts';
import { userToken } from '../tokens.ts';
import type { openSite, SitePod } from './site.ts';

const SECRET = 'a-secret-of-at-least-thirty-two-characters';

/** Two pods behind a proxy, and a worker. */
export interface PodPair {
  readonly url: string;
  token(userId: string, tenant?: string): Promise<string>;
  /** Kills the older pod; another one takes its place once the returned function is called. */
  kill(): Promise<() => Promise<void>>;
  /** Ends the proxy. The pods end with their site. */
  close(): Promise<void>;
}

export interface PodPairOptions {
  /** Path of the agents' file. */
  readonly config: string;
  /** The proxy, where its address has to be known before the pods start. */
  readonly balancer?: RoundRobin;
  /** More of the environment of the pods. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a proxy that has no pods yet. It picks them in turn, or at random. */
export function openBalancer(pick?: 'random'): Promise<RoundRobin> {
  return createRoundRobin({ targets: [], ...(pick !== undefined && { pick }) });
}

/** Starts them on the Redis of a site. */
export async function openPodPair(
  site: Awaited<ReturnType<typeof openSite>>,
  options: PodPairOptions,
): Promise<PodPair> {
  const balancer = options.balancer ?? (await openBalancer());
  const env = {
    PARLEY_CONFIG: options.config,
    PARLEY_A2A_URL: balancer.url,
    PARLEY_JWT_SECRET: SECRET,
    // With a key, any pod continues the rounds of questions of a tool server.
    PARLEY_VAULT_KEYS: `one:${randomBytes(32).toString('base64')}`,
    // A pod on a busy machine must not be mistaken for a dead one.
    PARLEY_LEASE_MS: '10000',
    PARLEY_TAKE_OVER_MS: '1000',
    ...options.env,
  };
  await site.worker(env);
  const pods: SitePod[] = await Promise.all([site.pod(env), site.pod(env)]);
  const targets = () => pods.map(({ url }) => url);
  await balancer.setTargets(targets());
  return {
    url: balancer.url,
    token: (userId, tenant) => userToken({ secret: SECRET, userId, ...(tenant !== undefined && { tenant }) }),
    async kill() {
      const [victim] = pods.splice(0, 1);
      victim?.kill('SIGKILL');
      await victim?.exited;
      await balancer.setTargets(targets());
      return async () => {
        pods.push(await site.pod(env));
        await balancer.setTargets(targets());
      };
    },
    close: () => balancer.close(),
  };
}
