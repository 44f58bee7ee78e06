import type { BackendHealth } from '@parley/shared/ports/backend';
import type { RedisFault } from '@parley/shared/ports/redis-diagnosis';
import type { Drain } from './life/drain.ts';
import { ANYBODY, json, type Reply, route, type Surface } from './route.ts';

interface HealthDeps {
  readonly health: () => Promise<BackendHealth>;
  /** Why Redis cannot be used; undefined if no reason is known. */
  readonly redisFault: () => RedisFault | undefined;
  readonly drain: Pick<Drain, 'hasBegun'>;
}

/** The probes of the pod. */
export function healthRoutes(deps: HealthDeps): Surface {
  const probe = { method: 'GET', proof: ANYBODY, readsOnly: true } as const;
  return {
    routes: [
      // This probe does not depend on Redis, so that an outage of Redis restarts no pod.
      route({ ...probe, path: '/healthz', handle: async () => json(200, { status: 'ok' }) }),
      route({ ...probe, path: '/readyz', handle: () => readiness(deps) }),
    ],
  };
}

/**
 * The pod is ready if commands can read and write, the subscription is acknowledged, and the pod is not draining. The canary is
 * shown for information only. So is the vault's own Redis, because most calls need no credential.
 */
async function readiness({ health, redisFault, drain }: HealthDeps): Promise<Reply> {
  if (drain.hasBegun) return json(503, { status: 'draining' }, { 'retry-after': '1' });
  const { commands, subscription, vault, timerCanaryAgeMs } = await health();
  const ready = commands && subscription;
  const fault = ready ? undefined : redisFault();
  return json(ready ? 200 : 503, {
    status: ready ? 'ready' : 'not ready',
    commands,
    subscription,
    ...(vault !== undefined && { vault }),
    // Only the code is shown: the sentence names hosts, and anybody may read this reply.
    ...(fault !== undefined && { reason: fault.code }),
    ...(timerCanaryAgeMs !== undefined && { timerCanaryAgeSeconds: Math.round(timerCanaryAgeMs / 1000) }),
  });
}
