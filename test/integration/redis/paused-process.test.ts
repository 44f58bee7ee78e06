import { setImmediate as turn } from 'node:timers/promises';
import { connectCommands } from '@parley/shared/redis/client/connect';
import { expect, it, onTestFinished } from 'vitest';
import { startRedis } from '../../harness/redis/redis-server.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { single } from '../../harness/worker/setup.ts';

/** Longer than a command may take, and longer than a socket may be silent. */
const PAUSE_MS = 3_200;

it('a reply that arrives while the process stands still is taken, although the time for it has passed', async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const redis = connectCommands(single(server.url));
  onTestFinished(() => redis.disconnect());
  await waitUntil(() => redis.status === 'ready', { what: 'the connection' });
  let closed = 0;
  redis.on('close', () => {
    closed += 1;
  });
  // Redis replies to the first after 100 ms, and to the second right after it.
  const replies = Promise.all([redis.blpop('nothing', 0.1), redis.set('written', '1')]);
  await turn();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
  expect(await replies).toEqual([null, 'OK']);
  expect(closed).toBe(0);
});
