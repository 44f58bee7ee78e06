import { backendSettings, engineSettings, readEnv } from '@parley/shared/config/env';
import { createDispatch } from '@parley/shared/delivery/dispatch';
import { createEngine } from '@parley/shared/elicitations/engine';
import { createLocalTimers } from '@parley/shared/memory/timers';
import { silentObserver } from '@parley/shared/observe/observer';
import type { Backend } from '@parley/shared/ports/backend';
import type { RedisLocation } from '@parley/shared/ports/redis-location';
import { createRedisBackend } from '@parley/shared/redis/backend';
import { resumeRunKind } from '@parley/shared/runs/resume';

/**
 * Parley's engine as a pod wires it, without HTTP and telemetry. `instead` stands in for parts of the backend, to measure
 * what they cost.
 */
export async function openBenchEngine(
  redis: string | RedisLocation,
  instead: (backend: Backend) => Partial<Backend> = () => ({}),
) {
  const env = readEnv('api', { PARLEY_LIMIT_USER_OPEN: '1000000' });
  const opened = createRedisBackend({
    location: typeof redis === 'string' ? { kind: 'single', url: redis } : redis,
    settings: backendSettings(env),
    timerQueues: 1,
  });
  const backend: Backend = { ...opened, ...instead(opened) };
  const dispatch = createDispatch({
    outbox: backend.outbox,
    kinds: [resumeRunKind(backend)],
    onFault: (error) => console.error(error),
  });
  const localTimers = createLocalTimers({
    onDue: (ids) => engine.expireFired(ids),
    timersMax: env.PARLEY_LIMIT_LOCAL_TIMERS,
  });
  const engine = createEngine({
    ...backend,
    timers: localTimers,
    observer: silentObserver,
    settings: engineSettings(env),
    deliveries: dispatch,
  });
  for (;;) {
    const { commands, subscription } = await backend.health();
    if (commands && subscription) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  // The producer connection comes up beside; the first timer should not be the one that finds it missing.
  await new Promise((resolve) => setTimeout(resolve, 100));
  return { engine, backend, env };
}

export const TENANT = 'bench';
export const SERVICE = { kind: 'service', tenant: TENANT } as const;

/** The question every row of the bench asks: about 300 bytes of definition. */
export const QUESTION = {
  mode: 'form',
  message: 'Which environment should this release go to, and when was it approved by the team?',
  requestedSchema: {
    type: 'object',
    properties: {
      environment: { type: 'string', enum: ['staging', 'production'] },
      at: { type: 'integer', minimum: 0 },
    },
    required: ['environment', 'at'],
  },
  timeoutSeconds: 600,
} as const;

/** Users are many, as in life: one user's inbox does not hold everything. */
export function userOf(index: number): string {
  return `user-${index % 1_000}`;
}
