import { bucketOfElicitationId } from '@parley/core/domain/ids';
import { deadlinesKey } from '@parley/shared/redis/client/keys';
import type { Redis } from 'ioredis';
import { afterAll } from 'vitest';
import { RUN } from '../harness/engines/questions.ts';
import { redisStore } from '../harness/engines/redis-pods.ts';
import { suiteNotRun } from '../harness/not-run.ts';
import { ensureRedisServer, findRedis } from '../harness/redis/find-redis.ts';
import { withRedis } from '../harness/redis/redis-command.ts';
import { startRedis } from '../harness/redis/redis-server.ts';
import { backendContract } from './suite.ts';

const NAME = 'the Redis backend on one server';

const binary = await ensureRedisServer();
if (binary !== undefined) await runOnOwnServer(binary);
else await runOnSharedServer();

async function runOnOwnServer(binary: string): Promise<void> {
  const { url, stop } = await startRedis({ binary });
  afterAll(() => stop());
  backendContract(
    NAME,
    redisStore({ kind: 'single', url }, async () => [url]),
  );
}

/** Others use this server, so it is never emptied: the cases that lose all data are left out. */
async function runOnSharedServer(): Promise<void> {
  const found = await findRedis();
  if ('notRun' in found) return suiteNotRun(NAME, found.notRun);
  const { url } = found;
  afterAll(async () => {
    await deleteOwnKeys(url);
    await found.stop();
  });
  const { open, dump } = redisStore({ kind: 'single', url }, async () => [url]);
  backendContract(NAME, { hasLine: true, open, ...(dump && { dump }) });
}

/** Deletes the keys of this run from a server that others use too. */
async function deleteOwnKeys(url: string): Promise<void> {
  await withRedis(url, async (redis) => {
    let cursor = '0';
    do {
      const [next, keys] = await redis.scan(cursor, 'MATCH', 'parley:*', 'COUNT', 500);
      cursor = next;
      await Promise.all(keys.map((key) => deleteIfOwn(redis, key)));
    } while (cursor !== '0');
  });
}

async function deleteIfOwn(redis: Redis, key: string): Promise<void> {
  if (key.includes(RUN)) return void (await redis.unlink(key));
  const id = /:elicitation:(el_.+)$/.exec(key)?.[1];
  const bucket = id === undefined ? undefined : bucketOfElicitationId(id);
  if (id === undefined || bucket === undefined) return;
  const definition = await redis.hget(key, 'definition');
  if (definition?.includes(RUN) !== true) return;
  await Promise.all([redis.unlink(key), redis.zrem(deadlinesKey(bucket), id)]);
}
