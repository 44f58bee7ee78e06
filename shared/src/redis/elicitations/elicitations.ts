import { BUCKET_COUNT } from '@parley/core/domain/ids';
import { ELICITATIONS } from '../../domain/elicitations/family.ts';
import type { ArmedDeadline } from '../../ports/elicitations/deadlines.ts';
import type { Elicitations } from '../../ports/elicitations/elicitations.ts';
import { armedKey, BUCKETS, deadlinesKey, elicitationKey, expiringKey } from '../client/keys.ts';
import { loadScript } from '../client/script.ts';
import { orUnavailable } from '../client/unavailable.ts';
import { createRedisRecords, type RedisRecordsDeps } from './records.ts';

/** The rows of elicitations, and the deadline index of all families. */
export function createRedisElicitations(deps: RedisRecordsDeps): Elicitations {
  const { redis, settings, onError } = deps;
  const keepScript = loadScript(redis, 'elicitations/keep', onError);
  // Called for each of 64 buckets every few seconds: its caller reports an outage once.
  const dueScript = loadScript(redis, 'elicitations/due');
  const armScript = loadScript(redis, 'elicitations/arm');
  const occupiedScript = loadScript(redis, 'elicitations/occupied');
  const groups = redis.isCluster ? BUCKETS.map((bucket) => [bucket]) : [BUCKETS];

  return {
    ...createRedisRecords(deps, ELICITATIONS),
    async due(bucket, limit, skip = 0, overdueMs = 0) {
      return (await dueScript([deadlinesKey(bucket % BUCKET_COUNT)], [limit, skip, overdueMs])) as string[];
    },
    occupied() {
      return groups.map(async (buckets) => {
        const found = (await occupiedScript(buckets.map(deadlinesKey), [])) as number[];
        return found.map((at) => buckets[at - 1] ?? 0);
      });
    },
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
