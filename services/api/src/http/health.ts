import type { ServerResponse } from 'node:http';
import type { BackendHealth } from '@parley/shared/ports/backend';
import { sendJson } from './serve.ts';

export interface HealthDeps {
  readonly health: () => Promise<BackendHealth>;
  readonly draining: AbortSignal;
}

/** Alive: the process answers. Says nothing about Redis, so that an outage of it restarts no pod. */
export function sendAlive(res: ServerResponse): void {
  sendJson(res, 200, { status: 'ok' });
}

/** Ready: commands answer, the subscription is acknowledged, and the pod is not draining. The canary only informs. */
export async function sendReady(res: ServerResponse, { health, draining }: HealthDeps): Promise<void> {
  if (draining.aborted) return sendJson(res, 503, { status: 'draining' }, { 'retry-after': '1' });
  const { commands, subscription, timerCanaryAgeMs } = await health();
  const ready = commands && subscription;
  sendJson(res, ready ? 200 : 503, {
    status: ready ? 'ready' : 'not ready',
    commands,
    subscription,
    ...(timerCanaryAgeMs !== undefined && { timerCanaryAgeSeconds: Math.round(timerCanaryAgeMs / 1000) }),
  });
}
