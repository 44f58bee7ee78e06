import { expect, it, onTestFinished } from 'vitest';
import { findRedis } from '../../../clients/cli/src/dev/find-redis.ts';
import { freePort } from '../../harness/free-port.ts';
import { startRedis } from '../../harness/redis/redis-server.ts';

it('a Redis without a password is used', async () => {
  const redis = await startRedis({ args: ['--appendonly', 'no'] });
  onTestFinished(() => redis.stop());
  expect(await findRedis(redis.url)).toEqual({ url: redis.url });
});

it('a Redis with a password is named, with what makes it usable', async () => {
  const redis = await startRedis({ args: ['--appendonly', 'no', '--requirepass', 'pw-of-redis'] });
  onTestFinished(() => redis.stop());
  const { host } = new URL(redis.url);
  expect(await findRedis(`redis://${host}`)).toEqual({
    refusal: `${host} asks for a password. Set it in REDIS_URL or PARLEY_REDIS_PASSWORD.`,
  });
  expect(await findRedis(`redis://:pw-of-redis@${host}`)).toMatchObject({ url: expect.any(String) });
  expect(await findRedis(`redis://:wrong@${host}`)).toEqual({
    refusal: expect.stringMatching(/refuses the user or the password/),
  });
});

it('where nothing answers nothing is found, and nothing is refused', async () => {
  expect(await findRedis(`redis://127.0.0.1:${await freePort()}`)).toEqual({});
});
