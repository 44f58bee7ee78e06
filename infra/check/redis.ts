import { join } from 'node:path';
import { Redis } from 'ioredis';
import { deniedProblems, type Login, operatorProblems, timerProblems, workProblems } from './redis-user.ts';
import { findProgram, freePort, lastLines, start, until, withDirectory } from './tools.ts';
import { type Check, judge, notRun, type Verdict } from './verdict.ts';

const password = 'a-password-for-this-check';
const operatorPassword = 'another-password-for-this-check';

/** A real Redis with the shipped files: it starts, the user `parley` can do its work and nothing else. */
export const redisChecks: readonly Check[] = [
  {
    name: 'redis-server starts with redis.conf and users.acl',
    run: (root) => withRedis(root, settingProblems),
  },
  {
    name: 'redis user parley can do the work, BullMQ included',
    run: (root) =>
      withRedis(root, async (login) => [...(await workProblems(login)), ...(await timerProblems(login))]),
  },
  {
    name: 'redis user parley can do nothing else',
    run: (root) => withRedis(root, deniedProblems),
  },
];

async function settingProblems({ port }: Login): Promise<readonly string[]> {
  const operator = new Redis({ port, username: 'operator', password: operatorPassword });
  operator.on('error', () => {});
  try {
    const problems = [...(await operatorProblems(operator))];
    for (const [name, wanted] of settings) {
      const [, value] = (await operator.call('CONFIG', 'GET', name)) as string[];
      if (value !== wanted) problems.push(`${name} is ${value} instead of ${wanted}`);
    }
    return problems;
  } finally {
    operator.disconnect();
  }
}

/** Settings that a promise rests on; docs/operations.md says which. */
const settings = [
  ['maxmemory-policy', 'noeviction'],
  ['appendonly', 'yes'],
  ['appendfsync', 'everysec'],
  ['hz', '100'],
  ['stream-node-max-bytes', '512'],
] as const;

/**
 * Starts Redis through the shipped start.sh on a free loopback port, hands `work` the login of the user `parley`, and
 * ends the server afterwards. What `work` throws is a problem too.
 */
export async function withRedis(
  root: string,
  work: (login: Login) => Promise<readonly string[]>,
): Promise<Verdict> {
  if (findProgram('redis-server') === undefined) return notRun('redis-server is not installed');
  return withDirectory(async (directory) => {
    const port = await freePort();
    const args = [join(root, 'infra/redis/start.sh'), '--port', `${port}`, '--bind', '127.0.0.1'];
    const server = start('sh', [...args, '--dir', directory], {
      env: {
        PARLEY_REDIS_PASSWORD: password,
        PARLEY_REDIS_OPERATOR_PASSWORD: operatorPassword,
        PARLEY_REDIS_RUN_DIR: directory,
      },
    });
    try {
      const ended = (): boolean => server.child.exitCode !== null;
      const ready = (): boolean => server.output().includes('Ready to accept connections');
      await until(() => ready() || ended(), 10_000);
      if (!ready()) return judge([lastLines(server.output())]);
      return judge(await work({ port, username: 'parley', password }));
    } catch (error) {
      return judge([error instanceof Error ? error.message : String(error)]);
    } finally {
      server.child.kill('SIGKILL');
      await server.finished;
    }
  });
}
