import { afterAll, beforeAll, expect, it } from 'vitest';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import { watchCommands } from '../../harness/redis/redis-monitor.ts';
import { type RedisServer, startRedis } from '../../harness/redis/redis-server.ts';
import { waitUntil } from '../../harness/wait-until.ts';

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

it('reports every command exactly as it was sent', async () => {
  const seen: (readonly string[])[] = [];
  const stop = await watchCommands(server.url, (args) => seen.push(args));
  const odd = 'a "quoted" \\ line\r\nü\x00\x07';
  await redisCommand(server.url, 'SET', 'key', odd);
  await redisCommand(server.url, 'EVAL', "return redis.call('GET', KEYS[1])", 1, 'key');
  await waitUntil(() => seen.some(([name]) => name?.toUpperCase() === 'GET'), {
    what: 'the command of the script',
  });
  expect(seen).toContainEqual(['SET', 'key', odd]);
  stop();
});
