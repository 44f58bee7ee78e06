import { randomUUID } from 'node:crypto';
import type { RedisLocation } from '@parley/shared/ports/redis-location';
import { createExclusive } from '@parley/shared/redis/audit/exclusive';
import { connectCommands } from '@parley/shared/redis/client/connect';
import { createCanary } from '@parley/shared/redis/jobs/canary';
import { offerOrphans } from '@parley/shared/runs/offer-orphans';
import { createActivity } from '../../../services/worker/src/activity.ts';
import { type MaintenanceDeps, startMaintenance } from '../../../services/worker/src/maintenance.ts';
import type { TestPod } from './setup.ts';

/** Does the maintenance in this process as a worker would, with short pauses. */
export async function maintain(
  { engine, backend, audit }: TestPod,
  location: RedisLocation,
  more: Partial<MaintenanceDeps> = {},
): Promise<{ close(): Promise<void> }> {
  const redis = connectCommands(location);
  redis.on('error', () => undefined);
  if (redis.status !== 'ready') await new Promise<void>((resolve) => redis.once('ready', () => resolve()));
  const end = startMaintenance({
    holder: randomUUID(),
    everyMs: { sweep: 200, 'take-over': 200, 'index-check': 400, cleanup: 400, canary: 100 },
    engine,
    claims: backend.claims,
    audit,
    exclusively: createExclusive(redis),
    offerOrphans: (input) => offerOrphans(backend, input),
    sendCanary: createCanary(redis).send,
    activity: createActivity(),
    onIndexReport: () => undefined,
    onCleanupReport: () => undefined,
    onError: () => undefined,
    ...more,
  });
  return {
    async close() {
      await end();
      redis.disconnect();
    },
  };
}
