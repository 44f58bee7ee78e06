/** Servers as providers run them: without commands of administration, with an evicting policy, or with a user of few rights. */
import { elicitationKey } from '@parley/shared/redis/client/keys';
import { expect, it, onTestFinished } from 'vitest';
import { runCli } from '../../harness/cli/run.ts';
import { freePort } from '../../harness/free-port.ts';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import { watchCommands } from '../../harness/redis/redis-monitor.ts';
import { choose } from '../../harness/site/pod-client.ts';
import { openSite } from '../../harness/site/site.ts';
import { waitUntil } from '../../harness/wait-until.ts';

// What ElastiCache, Azure, Memorystore, Aiven and others take away: each of these at least one of them.
const TAKEN_AWAY =
  'bgrewriteaof bgsave client cluster command config debug failover lastsave latency migrate module psync replicaof save script shutdown slaveof slowlog swapdb sync';
const WITHOUT = TAKEN_AWAY.split(' ').flatMap((command) => ['--rename-command', command, '']);

it.each<[what: string, args: readonly string[], user: readonly string[], warning: RegExp | undefined]>([
  [
    'a server without commands of administration, which removes keys with a time to live when it is full',
    [...WITHOUT, '--maxmemory-policy', 'volatile-lru'],
    ['+@all', '~*', '&*'],
    /maxmemory-policy to noeviction/,
  ],
  [
    'a user without @admin and @dangerous, and so without INFO',
    [],
    ['+@all', '-@admin', '-@dangerous', '~*', '&*'],
    undefined,
  ],
])('%s: pods and worker start, ask, answer and expire', async (_what, args, user, warning) => {
  const site = await openSite({ args: [...args] });
  onTestFinished(site.stop);
  await redisCommand(site.redis.url, 'ACL', 'SETUSER', 'parley', 'on', '>few-rights', ...user);
  const blockedFor: number[] = [];
  const stopWatching = await watchCommands(site.redis.url, ([name, _key, seconds]) => {
    if (name === 'bzpopmin') blockedFor.push(Number(seconds));
  });
  onTestFinished(stopWatching);
  const url = `redis://parley:few-rights@127.0.0.1:${site.redis.port}`;
  // Only the worker ends a question.
  const env = { REDIS_URL: url, PARLEY_LIMIT_LOCAL_TIMERS: '0', PARLEY_LOG_LEVEL: 'warn' };
  const [pod] = await Promise.all([site.pod(env), site.worker(env)]);
  const overdue = await pod.ask({ timeoutSeconds: 3 });
  const asked = await pod.ask();
  const waiting = pod.wait(asked);
  expect(await pod.answer(asked, choose('left'))).toMatchObject({ status: 200 });
  expect(await waiting).toMatchObject({ status: 200, body: { status: 'accepted' } });
  await waitUntil(
    async () =>
      (await redisCommand(site.redis.url, 'HGET', elicitationKey(overdue.id), 'status')) === 'expired',
    { what: 'the worker to end the overdue question' },
  );
  // Not for whole seconds, which would make it late by up to one.
  expect(blockedFor.filter((seconds) => !Number.isInteger(seconds))).not.toEqual([]);
  const about = pod.lines.map((line) => JSON.stringify(line)).filter((line) => /Redis|maxmemory/.test(line));
  expect(about).toEqual(warning === undefined ? [] : [expect.stringMatching(warning)]);
  const { out } = await runCli(['doctor'], {
    REDIS_URL: url,
    PARLEY_TOKEN: 't',
    PARLEY_URL: `http://127.0.0.1:${await freePort()}`,
  });
  expect(out).toMatch(/^ok +redis: /m);
});
