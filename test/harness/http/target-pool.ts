import type { HealthCheck } from '../processes/pod-health.ts';

/** A pod behind the balancer: a base URL, with a name when its index would not say enough. */
export type Target = string | { name: string; url: string };

export type Pod = { name: string; url: URL; healthy: boolean };

export type TargetPool = {
  /** The pods that a request may try, in the order to try them. */
  candidates(): Pod[];
  /** Replaces the pods and checks them; resolves when each is known to be healthy or not. */
  setTargets(targets: readonly Target[]): Promise<void>;
  close(): void;
};

export type TargetPoolOptions = {
  targets: readonly Target[];
  pick: 'round-robin' | 'random';
  /** From 0 to below 1, for a random pick; Math.random by default. */
  random?: (() => number) | undefined;
  /** Every pod counts as healthy without it. */
  check?: HealthCheck | undefined;
  intervalMs: number;
};

/** Keeps the pods, their turn, and their health: one failed check takes a pod out, one good check brings it back. */
export async function createTargetPool(options: TargetPoolOptions): Promise<TargetPool> {
  const { pick, random = Math.random, check, intervalMs } = options;
  let pods: Pod[] = [];
  let turn = 0;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const checkAll = async () => {
    if (!check) return;
    const checkOne = async (pod: Pod) => {
      pod.healthy = await check(pod.url);
    };
    await Promise.all(pods.map(checkOne));
  };
  const keepChecking = async () => {
    await checkAll();
    if (!closed) timer = setTimeout(keepChecking, intervalMs);
  };
  const setTargets = async (targets: readonly Target[]) => {
    pods = targets.map((target, index) => {
      const { name, url } = typeof target === 'string' ? { name: `${index}`, url: target } : target;
      return { name, url: new URL(url), healthy: true };
    });
    await checkAll();
  };
  await setTargets(options.targets);
  if (check) timer = setTimeout(keepChecking, intervalMs);
  return {
    candidates() {
      const healthy = pods.filter((pod) => pod.healthy);
      // A machine so busy that every check is late should not turn into 503s: then every pod is tried.
      const ring = healthy.length > 0 ? healthy : pods;
      const first = pick === 'random' ? Math.floor(random() * ring.length) : turn++ % ring.length;
      return [...ring.slice(first), ...ring.slice(0, first)];
    },
    setTargets,
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
