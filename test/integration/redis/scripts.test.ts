import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { connectCommands } from '@parley/shared/redis/client/connect';
import { loadScript, scriptSource } from '@parley/shared/redis/client/script';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RedisServer, startRedis } from '../../harness/redis/redis-server.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const FOLDER = new URL('../../../shared/src/redis/', import.meta.url);
const NAMES = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.lua'))
  .map((name) => name.slice(0, -'.lua'.length));

let server: RedisServer;
let redis: Redis;

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

describe('the Lua scripts', () => {
  it.each(NAMES)('%s is accepted by Redis, under the hash of its source', async (name) => {
    const source = scriptSource(name);
    expect(await redis.script('LOAD', source)).toBe(createHash('sha1').update(source).digest('hex'));
  });

  it('are sent again when the server has lost them', async () => {
    const commands = connectCommands({ kind: 'single', url: server.url });
    await waitUntil(() => commands.status === 'ready', { what: 'the connection' });
    const claim = loadScript(commands, 'client/claim');
    const read = loadScript(commands, 'client/read-hash');
    await redis.hset('parley:{b00.0}:test', 'field', 'value');
    for (let round = 0; round < 2; round += 1) {
      expect(await claim(['parley:{b00.0}:claim:test'], ['value', 60_000])).toBe('value');
      const [now, ...fields] = (await read(['parley:{b00.0}:test'], [])) as [number, ...string[]];
      expect(Math.abs(now - Date.now())).toBeLessThan(10_000);
      expect(fields).toEqual(['field', 'value']);
      await redis.script('FLUSH');
    }
    commands.disconnect();
  });
});
