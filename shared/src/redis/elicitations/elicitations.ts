import { BUCKET_COUNT } from '@parley/core/domain/ids';
import { ELICITATIONS } from '../../domain/elicitations/family.ts';
import type { ArmedDeadline } from '../../ports/elicitations/deadlines.ts';
import type { Elicitations } from '../../ports/elicitations/elicitations.ts';
import { armedKey, deadlinesKey, elicitationKey, expiringKey } from '../client/keys.ts';
import { createOccupied } from '../client/occupied.ts';
import { loadScript } from '../client/script.ts';
import { orUnavailable } from '../client/unavailable.ts';
import { createRedisRecords, type RedisRecordsDeps } from './records.ts';

/** The rows of elicitations, and the deadline index of all families. */
export function createRedisElicitations(deps: RedisRecordsDeps): Elicitations {
  const { redis, settings, onError } = deps;
  const keepScript = loadScript(redis, 'elicitations/keep', onError);
  // No error observer here: this runs for each of 64 buckets every few seconds, and its caller reports an outage once.
  const dueScript = loadScript(redis, 'elicitations/due');
  const armScript = loadScript(redis, 'elicitations/arm');
  const findOccupied = createOccupied(redis);

  return {
    ...createRedisRecords(deps, ELICITATIONS),
    async due(bucket, limit, skip = 0, overdueMs = 0) {
      return (await dueScript([deadlinesKey(bucket % BUCKET_COUNT)], [limit, skip, overdueMs])) as string[];
    },
    occupied: () => findOccupied((bucket) => [deadlinesKey(bucket)]),
    async arm(bucket, skip = 0): Promise<ArmedDeadline | undefined> {
      const keys = [deadlinesKey(bucket), armedKey(bucket)];
      const reply = (await armScript(keys, [skip])) as [] | [number, string, number];
      if (reply.length === 0) return undefined;
      const [deadline, elicitationId, delayMs] = reply;
      return { bucket, deadline, elicitationId, delayMs };
    },
    async noteExpiring(forMs) {
      await orUnavailable(() => redis.set(expiringKey(), '1', 'PX', forMs));
    },
    async isExpiring() {
      return (await orUnavailable(() => redis.exists(expiringKey()))) === 1;
    },
    async keep(id, forMs) {
      await keepScript([elicitationKey(id)], [Math.ceil(forMs), settings.retentionMs]);
    },
    async forget(bucket, id) {
      await orUnavailable(() => redis.zrem(deadlinesKey(bucket), id), onError);
    },
  };
}
