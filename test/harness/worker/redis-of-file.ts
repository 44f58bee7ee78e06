import type { WorkersOptions } from '@parley/shared/redis/jobs/workers';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { redisCommand } from '../redis/redis-command.ts';
import { type RedisServer, startRedis } from '../redis/redis-server.ts';
import {
  lookInto,
  single,
  startTestPod,
  startTestWorker,
  type TestPod,
  type TestPodOptions,
} from './setup.ts';

/** A Redis for the tests of a file, empty at the start of each; what a test opens on it ends with the test. */
export function redisOfFile() {
  const held: (() => unknown)[] = [];
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());
  beforeEach(() => redisCommand(redis.port, 'FLUSHALL'));
  afterEach(async () => {
    for (const close of held.splice(0).reverse()) await close();
  });
  const hold = <T extends { close(): unknown }>(opened: T): T => {
    held.push(() => opened.close());
    return opened;
  };
  const site = {
    hold,
    get port() {
      return redis.port;
    },
    get location() {
      return single(redis.url);
    },
    openPod: async (more: Partial<TestPodOptions> = {}) =>
      hold(await startTestPod({ location: site.location, ...more })),
    openWorker: async (pod: TestPod, more: Partial<WorkersOptions> = {}) =>
      hold(await startTestWorker(pod, site.location, more)),
    openQueue: async (name?: string) => hold(await lookInto(site.location, name)).queue,
  };
  return site;
}
