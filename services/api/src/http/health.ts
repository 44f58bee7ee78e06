import type { BackendHealth } from '@parley/shared/ports/backend';
import { ANYBODY, json, type Reply, route, type Surface } from './route.ts';

export interface HealthDeps {
  readonly health: () => Promise<BackendHealth>;
  readonly draining: AbortSignal;
}

/** The probes of the pod. */
export function healthRoutes(deps: HealthDeps): Surface {
  const probe = { method: 'GET', proof: ANYBODY, readsOnly: true } as const;
  return {
    routes: [
      // Does not depend on Redis, so that an outage of Redis restarts no pod.
      route({ ...probe, path: '/healthz', handle: async () => json(200, { status: 'ok' }) }),
      route({ ...probe, path: '/readyz', handle: () => readiness(deps) }),
    ],
  };
}

/** Ready: commands answer, the subscription is acknowledged, and the pod is not draining. The canary only informs. */
async function readiness({ health, draining }: HealthDeps): Promise<Reply> {
  if (draining.aborted) return json(503, { status: 'draining' }, { 'retry-after': '1' });
  const { commands, subscription, timerCanaryAgeMs } = await health();
  const ready = commands && subscription;
  return json(ready ? 200 : 503, {
    status: ready ? 'ready' : 'not ready',
    commands,
    subscription,
    ...(timerCanaryAgeMs !== undefined && { timerCanaryAgeSeconds: Math.round(timerCanaryAgeMs / 1000) }),
  });
}
