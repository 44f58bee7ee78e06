import { isParleyError } from '@parley/core/domain/errors';
import { silentObserver } from '@parley/shared/observe/observer';
import { elicitationKey, feedKey, historyKey } from '@parley/shared/redis/client/keys';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { engineOn } from '../../harness/engines/engines.ts';
import { askQuestion, newStream, serviceOf } from '../../harness/engines/questions.ts';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import { type RedisServer, startRedis } from '../../harness/redis/redis-server.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { single, startTestPod, type TestPod } from '../../harness/worker/setup.ts';

let redis: RedisServer;
let pod: TestPod;

beforeAll(async () => {
  redis = await startRedis();
  pod = await startTestPod({ location: single(redis.url) });
});
afterAll(async () => {
  await pod?.close();
  await redis?.stop();
});

/** What a call ends with, which must not be the promise that it will do better soon. */
async function faultOf(call: Promise<unknown>): Promise<unknown> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(isParleyError(error)).toBe(false);
  return error;
}

it('a feed entry that cannot be read is a fault, not an outage', async () => {
  const stream = newStream();
  await askQuestion(pod.engine, stream);
  const [[id]] = (await redisCommand(redis.url, 'XRANGE', feedKey(stream), '-', '+')) as [[string]];
  const next = id.replace(/\d+$/, (seq) => String(Number(seq) + 1));
  await redisCommand(redis.url, 'XADD', feedKey(stream), next, 'event', 'elicitation-resolved', 'data', '{');
  expect(await faultOf(pod.backend.feed.read(stream, undefined, 10))).toBeInstanceOf(SyntaxError);
});

it('a row that cannot be read is a fault, not an outage, in the lists that contain it too; other rows are not affected', async () => {
  const stream = newStream();
  const { row: damaged } = await askQuestion(pod.engine, stream);
  const { row: sound } = await askQuestion(pod.engine, stream);
  await redisCommand(redis.url, 'HSET', elicitationKey(damaged.id), 'definition', '{');
  expect(await faultOf(pod.engine.read(serviceOf(stream), damaged.id))).toBeInstanceOf(SyntaxError);
  expect(await faultOf(pod.engine.list({ owner: stream, limit: 10 }))).toBeInstanceOf(SyntaxError);
  expect((await pod.engine.read(serviceOf(stream), sound.id)).row.status).toBe('pending');
});

it('a key of another type prevents one record only from being expired together with others, and is reported', async () => {
  const asked = await Promise.all(
    [newStream(), newStream()].map((stream) => askQuestion(pod.engine, stream, { timeoutSeconds: 0.001 })),
  );
  const [damaged, sound] = asked.map(({ row }) => row);
  if (damaged === undefined || sound === undefined) throw new Error('Nothing was asked.');
  await redisCommand(redis.url, 'SET', historyKey(damaged.definition), 'no index');
  const read = () => pod.engine.read(serviceOf(sound.definition), sound.id);
  await waitUntil(async () => (await read()).now >= Math.max(damaged.expiresAt, sound.expiresAt), {
    what: 'the deadlines',
    everyMs: 1,
  });
  const told: [string, string][] = [];
  const engine = engineOn(pod.backend, {
    observer: {
      ...silentObserver,
      settled: ({ id }) => void told.push(['settled', id]),
      sweepFailed: (id) => void told.push(['failed', id]),
    },
  });
  await engine.expireFired([damaged.id, sound.id]);
  expect(told.toSorted()).toEqual([
    ['failed', damaged.id],
    ['settled', sound.id],
  ]);
});
