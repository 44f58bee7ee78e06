import { createServer } from 'node:http';
import { listenOnFreePort } from '../free-port.ts';
import { createHealthCheck } from '../processes/pod-health.ts';
import { createForwarder } from './forward-request.ts';
import { seededRandom } from './pick-fetch.ts';
import { createTargetPool, type Target } from './target-pool.ts';

export { pickFetch } from './pick-fetch.ts';

export type RoundRobinOptions = {
  targets: readonly Target[];
  pick?: 'round-robin' | 'random';
  /** Repeats the choices of a random pick. */
  seed?: number;
  /** Path of the active checks; false for no checks. `/readyz` by default. */
  healthPath?: string | false;
  /** Interval of the checks, 2,000 by default: each opens a connection to each pod, all the time that the site stands. */
  healthIntervalMs?: number;
  /** A pod that has not replied by then counts as unhealthy. 1,000 by default. */
  healthTimeoutMs?: number;
  /** Added to every request, such as a token for a client that cannot send one. */
  headers?: Readonly<Record<string, string>>;
};

/** The load balancer in front of the pods. */
export type RoundRobin = {
  readonly url: string;
  readonly port: number;
  /** Replaces the pods and checks them. Requests under way stay where they are. */
  setTargets(targets: readonly Target[]): Promise<void>;
  /** Name (or index) of the pod that answered last, as in `x-parley-upstream`. */
  lastPod(): string | undefined;
  /** Ends every connection. */
  close(): Promise<void>;
};

/**
 * Starts an HTTP reverse proxy on 127.0.0.1 that gives each request to the next healthy pod and hands bodies through
 * as they come. Only a pod that cannot be reached at all is passed over; nothing is sent twice. 502 when the pod
 * died before its answer began, 503 when none can be reached; a body that breaks off upstream breaks off here too.
 */
export async function createRoundRobin(options: RoundRobinOptions): Promise<RoundRobin> {
  const { targets, pick = 'round-robin', healthPath = '/readyz', healthIntervalMs = 2_000 } = options;
  const check =
    healthPath === false ? undefined : createHealthCheck(healthPath, options.healthTimeoutMs ?? 1_000);
  const random = options.seed === undefined ? undefined : seededRandom(options.seed);
  const pool = await createTargetPool({ targets, pick, random, check, intervalMs: healthIntervalMs });
  let last: string | undefined;
  const forwarder = createForwarder({
    candidates: () => pool.candidates(),
    headers: options.headers,
    onAnswer: (pod) => {
      last = pod.name;
    },
  });
  // Slow and silent clients are the pods' business: the proxy sets no limits of its own.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 65_000 }, forwarder.handle);
  const port = await listenOnFreePort(server);
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    setTargets: (next) => pool.setTargets(next),
    lastPod: () => last,
    async close() {
      pool.close();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      forwarder.close();
      await closed;
    },
  };
}
