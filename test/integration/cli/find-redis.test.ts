import { expect, it, onTestFinished } from 'vitest';
import { findRedis, isOldRedis } from '../../../clients/cli/src/dev/find-redis.ts';
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
    refusal: `The Redis at ${host} needs a password. To use it, set REDIS_URL to its address with the password, such as redis://:password@${host}.`,
  });
  expect(await findRedis(`redis://:pw-of-redis@${host}`)).toMatchObject({ url: expect.any(String) });
  expect(await findRedis(`redis://:wrong@${host}`)).toEqual({
    refusal: `The Redis at ${host} refuses the user or the password of REDIS_URL.`,
  });
});

it('where nothing answers nothing is found, and nothing is refused', async () => {
  expect(await findRedis(`redis://127.0.0.1:${await freePort()}`)).toEqual({});
});

it.each([
  ['6.2.14', true],
  ['7.0.0', false],
  ['10.0.0', false],
  [undefined, false],
])('the version %s is too old: %s', (version, isOld) => {
  expect(isOldRedis(version)).toBe(isOld);
});
