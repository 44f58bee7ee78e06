/**
 * Starts a real Redis with the shipped files, and checks its settings and the permissions of its users. Parley itself is not
 * started here.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, cpSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { Redis } from 'ioredis';
import { findProgram, lastLines, missingProgram, withDirectory } from './programs.ts';
import { type Check, judge, type Verdict } from './verdict.ts';

/**
 * Checks the shipped files with a real Redis: it starts, keeps the promised settings, and its users may do what they must and
 * no more.
 */
export const redisChecks: readonly Check[] = [
  { name: 'redis starts as configured', run: (root) => withRedis(root, settingProblems) },
  { name: 'redis users may do their work', run: (root) => withRedis(root, missingPermissions) },
  { name: 'redis users may do nothing else', run: (root) => withRedis(root, excessPermissions) },
];

/** Settings on which a promise in docs/operations.md depends. */
const settings = {
  'maxmemory-policy': 'noeviction',
  appendonly: 'yes',
  appendfsync: 'everysec',
  hz: '100',
  'stream-node-max-bytes': '512',
} as const;

/** The commands that the api and the worker send directly. Commands in scripts are read from the scripts. */
const PARLEY_SENDS = `
  AUTH parley x | SELECT 0 | CLIENT SETNAME x | INFO memory | PING | QUIT | TIME | WAIT 0 1 | DBSIZE
  SCAN 0 MATCH parley:* COUNT 100 | EVAL x 1 parley:x | EVALSHA x 1 parley:x | SCRIPT LOAD x | SCRIPT EXISTS x
  MULTI | EXEC | SUBSCRIBE parley:x | UNSUBSCRIBE parley:x | PUBLISH parley:x x | CLUSTER SLOTS | CLUSTER SHARDS
  SET parley:x x PX 1 NX | GETDEL parley:x | XREAD BLOCK 1 STREAMS parley:x 0 | XRANGE parley:x - +
  XREVRANGE parley:x + - COUNT 1 | BZPOPMIN parley:x 1`;
const PARLEY_MUST_NOT = `
  KEYS parley:* | FLUSHALL | FLUSHDB | CONFIG GET hz | CONFIG SET hz 10 | DEBUG SLEEP 0 | ACL LIST | SAVE
  ACL SETUSER parley +@all | SHUTDOWN NOSAVE | BGREWRITEAOF | REPLICAOF 127.0.0.1 1 | MONITOR | SWAPDB 0 1
  MIGRATE 127.0.0.1 1 parley:a 0 1 | RANDOMKEY | CLIENT KILL TYPE normal | CLIENT LIST | SCRIPT FLUSH | SCRIPT KILL
  FUNCTION LIST | MODULE LIST | CLUSTER RESET | GET other | SET bull:expiry:1 x | DEL parleyx | EVAL x 1 other
  PUBLISH other x | SUBSCRIBE other | PSUBSCRIBE *`;
const OPERATOR_SENDS =
  'SLOWLOG GET | ACL LOG | CLIENT LIST | BGSAVE | LASTSAVE | CONFIG GET hz | GET parley:a';
const OPERATOR_MUST_NOT = 'SET parley:a x | FLUSHALL | CONFIG SET hz 10 | SHUTDOWN NOSAVE | EVAL x 0';

async function settingProblems(redis: Redis): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const [name, wanted] of Object.entries(settings)) {
    const [, value] = (await redis.config('GET', name)) as string[];
    if (value !== wanted) problems.push(`${name} is ${value} instead of ${wanted}`);
  }
  return problems;
}

async function missingPermissions(redis: Redis): Promise<readonly string[]> {
  const problems: string[] = [];
  const scripts = [...(await scriptCommands(redis)), ...parseCommands(PARLEY_SENDS)];
  for (const [user, commands] of [
    ['parley', scripts],
    ['operator', parseCommands(OPERATOR_SENDS)],
  ] as const) {
    for (const command of commands) {
      const answer = await redis.call('ACL', 'DRYRUN', user, ...command);
      if (answer !== 'OK') problems.push(`${user} may not ${command.join(' ')}: ${answer}`);
    }
  }
  return problems;
}

async function excessPermissions(redis: Redis): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const [user, commands] of [
    ['parley', PARLEY_MUST_NOT],
    ['operator', OPERATOR_MUST_NOT],
  ] as const) {
    for (const command of parseCommands(commands)) {
      const answer = await redis.call('ACL', 'DRYRUN', user, ...command);
      if (answer === 'OK') problems.push(`${user} may ${command.join(' ')}`);
    }
  }
  const users = (await redis.acl('LIST')).filter(
    (user) => / on /.test(user) && !user.startsWith('user check '),
  );
  const unexpected = users.filter(
    (user) => !/^user (parley|operator) on #/.test(user) || / nopass /.test(user),
  );
  return [...problems, ...unexpected.map((user) => `opens without the password: ${user.split(' on ')[0]}`)];
}

function parseCommands(text: string): readonly (readonly string[])[] {
  return text.split(/\||\n/).flatMap((command) => (command.trim() === '' ? [] : [command.trim().split(' ')]));
}

/** Every command in Parley's and BullMQ's scripts, with as many of Parley's keys as the command needs. */
async function scriptCommands(redis: Redis): Promise<readonly (readonly string[])[]> {
  const bullmq = dirname(createRequire(import.meta.url).resolve('bullmq'));
  const names = [join(bullmq, 'commands'), resolve(import.meta.dirname, '../../shared/src/redis')].flatMap(
    (directory) =>
      readdirSync(directory, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.lua'))
        .map((file) => readFileSync(join(directory, file), 'utf8'))
        .flatMap((text) => [...text.matchAll(/(?:redis\.p?call|rcall)\(\s*['"](\w+)['"]/g)])
        .map(([, name = '']) => name.toUpperCase()),
  );
  const commands = [...new Set(names)].filter((name) => name !== 'XREAD');
  const details = (await redis.call('COMMAND', 'INFO', ...commands)) as readonly (readonly [
    string,
    number,
  ])[];
  return details.map(([name, arity]) => {
    const count = Math.abs(arity) - 1;
    return [name, ...Array.from({ length: name === 'xadd' ? 4 : count }, () => 'parley:x')];
  });
}

/**
 * Starts Redis through the shipped start.sh on its own socket, and gives `work` a connection with all permissions. An error of
 * `work` counts as a problem.
 */
async function withRedis(root: string, work: (redis: Redis) => Promise<readonly string[]>): Promise<Verdict> {
  if (findProgram('redis-server') === undefined) return missingProgram('redis-server');
  return withDirectory(async (directory) => {
    const files = join(directory, 'files');
    cpSync(join(root, 'infra/redis'), files, { recursive: true });
    appendFileSync(join(files, 'users.acl'), 'user check on nopass ~* &* +@all\n');
    const path = join(directory, 'socket');
    const server = spawn(
      'sh',
      [join(files, 'start.sh'), '--port', '0', '--unixsocket', path, '--dir', directory],
      {
        env: {
          ...process.env,
          PARLEY_REDIS_PASSWORD: 'a-password-for-this-check',
          PARLEY_REDIS_OPERATOR_PASSWORD: 'another-password-for-this-check',
          PARLEY_REDIS_RUN_DIR: directory,
        },
      },
    );
    let output = '';
    for (const stream of [server.stdout, server.stderr]) stream.on('data', (chunk) => (output += chunk));
    const ended = once(server, 'close');
    const redis = new Redis({
      path,
      username: 'check',
      password: 'any',
      maxRetriesPerRequest: null,
      retryStrategy: () => retryDelay(server),
    });
    redis.on('error', () => {});
    try {
      return judge(await work(redis));
    } catch (error) {
      return judge([output === '' || server.exitCode === null ? String(error) : lastLines(output)]);
    } finally {
      redis.disconnect();
      server.kill('SIGKILL');
      await ended;
    }
  });
}

/** Milliseconds until the next attempt to connect, or null once the server has ended. */
function retryDelay(server: ChildProcess): number | null {
  return server.exitCode === null ? 20 : null;
}
