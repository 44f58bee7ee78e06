import { afterAll, describe } from 'vitest';
import { suiteNotRun } from '../not-run.ts';
import { findRedis } from '../redis/find-redis.ts';
import type { Pods } from './pods.ts';
import { openRedisPods } from './redis-pods.ts';
import { ROOMY } from './settings.ts';

/** A suite on two pods of one Redis. Without a Redis it is listed as not run, with the reason. */
export async function describeOnRedis(name: string, tests: (pods: Pods, url: string) => void): Promise<void> {
  const found = await findRedis();
  if ('notRun' in found) return suiteNotRun(name, found.notRun);
  const pods = await openRedisPods({ kind: 'single', url: found.url }, ROOMY);
  describe(name, () => {
    afterAll(async () => {
      await pods.close();
      await found.stop();
    });
    tests(pods, found.url);
  });
}
