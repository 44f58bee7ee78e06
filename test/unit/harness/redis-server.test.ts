import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findRedis } from '../../harness/redis/find-redis.ts';
import { redisCommand, withRedis } from '../../harness/redis/redis-command.ts';
import { startRedis } from '../../harness/redis/redis-server.ts';
import { waitUntil } from '../../harness/wait-until.ts';

describe('startRedis', () => {
  it('keeps acknowledged writes through kill -9 and a restart on the same port', async () => {
    const redis = await startRedis();
    try {
      for (let i = 0; i < 200; i++) await redisCommand(redis.port, 'SET', `k${i}`, i);
      const before = redis.pid;
      await redis.kill9();
      expect(redis.running).toBe(false);
      await expect(redisCommand(redis.port, 'PING')).rejects.toThrow();
      await redis.restart();
      expect(redis.pid).not.toBe(before);
      expect(await redisCommand(redis.port, 'DBSIZE')).toBe(200);
      expect(await redisCommand(redis.port, 'GET', 'k199')).toBe('199');
    } finally {
      await redis.stop();
    }
    expect(existsSync(redis.dir)).toBe(false);
  });

  it('does not answer while paused and continues when resumed', async () => {
    const redis = await startRedis({ args: ['--maxmemory', '50mb', '--maxmemory-policy', 'noeviction'] });
    try {
      redis.pause();
      await expect(withRedis(redis.port, (client) => client.ping(), 300)).rejects.toThrow();
      redis.resume();
      await waitUntil(() => redisCommand(redis.port, 'PING'), { what: 'PONG after the pause' });
      expect(await redisCommand(redis.port, 'CONFIG', 'GET', 'maxmemory')).toContain('52428800');
    } finally {
      redis.pause();
      await redis.stop();
    }
  });

  it('keeps a given directory, and loads its data', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'parley-harness-'));
    try {
      const first = await startRedis({ dir });
      await redisCommand(first.port, 'SET', 'kept', 'yes');
      await first.stop();
      const second = await startRedis({ dir, port: first.port });
      expect(await redisCommand(second.port, 'GET', 'kept')).toBe('yes');
      await second.stop();
    } finally {
      await rm(dir, { recursive: true });
    }
  });

  it('reports the output of Redis when it did not start', async () => {
    await expect(startRedis({ args: ['--no-such-setting', '1'] })).rejects.toThrow(/no-such-setting/);
  });
});

describe('findRedis', () => {
  it('finds a Redis and reports how', async () => {
    const found = await findRedis({ PATH: process.env.PATH });
    if ('notRun' in found) throw new Error(found.notRun);
    try {
      expect(await redisCommand(found.url, 'PING')).toBe('PONG');
      expect(found.how).not.toBe('');
    } finally {
      await found.stop();
    }
  });

  it('never replaces a REDIS_URL that does not answer', async () => {
    const redis = await startRedis();
    await redis.stop();
    expect(await findRedis({ PATH: process.env.PATH, REDIS_URL: redis.url })).toEqual({
      notRun: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('uses Docker when redis-server is missing, and gives every reason when nothing works', async () => {
    const found = await findRedis({ PATH: '/nonexistent' });
    if ('notRun' in found) {
      expect(found.notRun).toMatch(/no redis-server on the PATH; .+; (not root|there is no apt-get)/);
      return;
    }
    expect(found.how).toContain('container');
    await found.stop();
  }, 180_000);
});
