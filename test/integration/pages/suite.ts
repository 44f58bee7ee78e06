import { afterAll, beforeAll, beforeEach } from 'vitest';
import { createTestBrowser } from '../../harness/pages/browser.ts';
import { type WorldOptions as AllOptions, startWorld } from '../../harness/pages/setup.ts';
import { dumpRedis } from '../../harness/redis/dump-redis.ts';
import { redisCommand, withRedis } from '../../harness/redis/redis-command.ts';
import { type RedisServer, startRedis } from '../../harness/redis/redis-server.ts';

export type WorldOptions = Partial<AllOptions>;

/** A Redis for a file of tests, empty before each of them, and where most tests of the pages begin. */
export function pagesSuite() {
  let redis: RedisServer;
  beforeAll(async () => {
    // Nothing starts it again: a slow disk need not hold it up.
    redis = await startRedis({ args: ['--appendonly', 'no'] });
  });
  afterAll(() => redis.stop());
  beforeEach(() => redisCommand(redis.port, 'FLUSHALL'));

  const world = (options: WorldOptions = {}) => startWorld({ redisUrl: redis.url, ...options });

  /** Ada, signed in and before the consent page of a question. */
  async function begun(options: WorldOptions = {}) {
    const here = await world(options);
    const asked = await here.ask();
    const browser = createTestBrowser(here);
    return { here, browser, ...asked, consent: await browser.enter(asked.path, 'ada') };
  }

  /** Ada, on her way back from the provider. */
  async function back(options: WorldOptions = {}) {
    const started = await begun(options);
    const left = await started.browser.submit(started.consent, 'start');
    return { ...started, callback: await started.browser.walk(left, 'ada-at-tracker') };
  }

  /** Everything that lies in Redis, as text, in the order of the names. */
  const dump = async () => (await withRedis(redis.url, (client) => dumpRedis(client))).sort();

  return { redis: () => redis, world, begun, back, dump };
}
