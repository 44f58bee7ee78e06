import { bucketOfElicitationId } from '@parley/shared/domain/ids';
import { deadlinesKey } from '@parley/shared/redis/client/keys';
import type { Redis } from 'ioredis';
import { withRedis } from '../harness/redis/redis-command.ts';
import { RUN } from './questions.ts';

/** Removes what this run has left on a server that is not its own. */
export async function tidyUp(url: string): Promise<void> {
  await withRedis(url, async (redis) => {
    let cursor = '0';
    do {
      const [next, keys] = await redis.scan(cursor, 'MATCH', 'parley:*', 'COUNT', 500);
      cursor = next;
      await Promise.all(keys.map((key) => removeIfOurs(redis, key)));
    } while (cursor !== '0');
  });
}

async function removeIfOurs(redis: Redis, key: string): Promise<void> {
  if (key.includes(RUN)) return void (await redis.unlink(key));
  const id = /:elicitation:(el_.+)$/.exec(key)?.[1];
  const bucket = id === undefined ? undefined : bucketOfElicitationId(id);
  if (id === undefined || bucket === undefined) return;
  const definition = await redis.hget(key, 'definition');
  if (definition?.includes(RUN) !== true) return;
  await Promise.all([redis.unlink(key), redis.zrem(deadlinesKey(bucket), id)]);
}
