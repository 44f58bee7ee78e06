import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { until } from './tools.ts';

/** How a user signs in to the Redis under test, which listens on loopback. */
export type Login = { readonly port: number; readonly username: string; readonly password: string };

/** Where Parley's timers lie; BullMQ puts every key of a queue under its prefix. */
const timersPrefix = 'parley:{timers}';

/** A script as Parley's commit is one: reads the time, writes the row and its feed, publishes last. */
const commit = `
  local now = redis.call('TIME')
  redis.call('HSET', KEYS[1], 'status', 'pending', 'at', now[1])
  redis.call('PEXPIRE', KEYS[1], 60000)
  redis.call('ZADD', KEYS[2], now[1], 'el_1')
  redis.call('XADD', KEYS[3], '*', 'event', 'asked')
  return redis.call('PUBLISH', ARGV[1], 'woken')`;

/** What Parley itself does on Redis, done once as the user under test. */
export async function workProblems(login: Login): Promise<readonly string[]> {
  const client = quiet(new Redis({ ...login, connectionName: 'parley', retryStrategy: () => null }));
  const subscriber = quiet(new Redis({ ...login, retryStrategy: () => null }));
  const heard: string[] = [];
  subscriber.on('message', (_channel, message) => heard.push(message));
  const channel = 'parley:{b07}:stream:default/sr_1';
  const steps: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['subscribe', () => subscriber.subscribe(channel)],
    ['ping while subscribed', () => subscriber.ping()],
    [
      'run a script',
      () =>
        client.eval(
          commit,
          3,
          'parley:{b07}:elicitation:el_1',
          'parley:{b07}:deadlines',
          'parley:{b07}:feed:1',
          channel,
        ),
    ],
    ['load a script', () => client.script('LOAD', commit)],
    ['claim a key', () => client.set('parley:{b07}:claim:1', 'x', 'PX', 60_000, 'NX')],
    ['read and delete', () => client.getdel('parley:{b07}:claim:1')],
    ['read a feed', () => client.xrange('parley:{b07}:feed:1', '-', '+')],
    ['wait for a feed', () => client.xread('COUNT', 10, 'BLOCK', 1, 'STREAMS', 'parley:{b07}:feed:1', '$')],
    ['run a transaction', () => client.multi().hgetall('parley:{b07}:elicitation:el_1').time().exec()],
    ['scan', () => client.scan('0', 'MATCH', 'parley:*', 'COUNT', 100)],
    ['count', () => client.dbsize()],
    ['ask for replicas', () => client.wait(0, 1)],
    ['ask for information', () => client.info('memory')],
  ];
  const problems: string[] = [];
  for (const [what, step] of steps) {
    const refusal = await refusalOf(step);
    if (refusal !== undefined) problems.push(`may not ${what}: ${refusal}`);
  }
  if (problems.length === 0 && !(await until(() => heard.includes('woken'), 2000))) {
    problems.push('a wake published by a script was not heard');
  }
  client.disconnect();
  subscriber.disconnect();
  return problems;
}

/** A round trip through the timer queue: a delayed job, a removed one, a job scheduler, all as the user under test. */
export async function timerProblems(login: Login): Promise<readonly string[]> {
  const refusals: string[] = [];
  const done: string[] = [];
  const note = (error: Error): void => {
    refusals.push(error.message);
  };
  const connection = { ...login, maxRetriesPerRequest: null };
  const queue = new Queue('expiry', { connection, prefix: timersPrefix });
  queue.on('error', note);
  const worker = new Worker('expiry', async (job) => void done.push(job.name), {
    connection,
    prefix: timersPrefix,
  });
  worker.on('error', note);
  worker.on('failed', (_job, error) => note(error));
  try {
    await queue.add('expire', {}, { delay: 100, jobId: 'expire-el_1', removeOnComplete: true });
    await queue.add('never', {}, { delay: 60_000, jobId: 'expire-el_2' });
    await queue.remove('expire-el_2');
    await queue.upsertJobScheduler('sweep', { every: 200 }, { name: 'sweep' });
    const seen = (): boolean =>
      done.includes('expire') && done.filter((name) => name === 'sweep').length >= 2;
    const passed = await until(() => seen() || refusals.length > 0, 10_000);
    await queue.removeJobScheduler('sweep');
    if (!passed) refusals.push(`timers did not fire; seen: ${done.join(', ')}`);
    if (done.includes('never')) refusals.push('a removed timer fired');
  } catch (error) {
    note(error instanceof Error ? error : new Error(String(error)));
  } finally {
    await worker.close(true);
    await queue.close();
  }
  return refusals.map((refusal) => `BullMQ: ${refusal}`);
}

/** Commands that would end, leak or take over the server, and keys and channels that are not Parley's. */
const forbidden: readonly (readonly [string, ...string[]])[] = [
  ['KEYS', 'parley:*'],
  ['FLUSHALL'],
  ['FLUSHDB'],
  ['CONFIG', 'GET', 'requirepass'],
  ['CONFIG', 'SET', 'appendonly', 'no'],
  ['DEBUG', 'SLEEP', '0'],
  ['ACL', 'LIST'],
  ['ACL', 'SETUSER', 'parley', '+@all'],
  ['SHUTDOWN', 'NOSAVE'],
  ['SAVE'],
  ['BGREWRITEAOF'],
  ['REPLICAOF', '127.0.0.1', '1'],
  ['MONITOR'],
  ['SWAPDB', '0', '1'],
  ['MIGRATE', '127.0.0.1', '1', 'parley:a', '0', '1'],
  ['RANDOMKEY'],
  ['CLIENT', 'KILL', 'TYPE', 'normal'],
  ['CLIENT', 'LIST'],
  ['SCRIPT', 'FLUSH'],
  ['SCRIPT', 'KILL'],
  ['FUNCTION', 'LIST'],
  ['MODULE', 'LIST'],
  ['CLUSTER', 'RESET'],
  ['GET', 'other'],
  ['SET', 'bull:expiry:1', 'x'],
  ['DEL', 'parleyx'],
  ['EVAL', "return redis.call('GET', KEYS[1])", '1', 'other'],
  ['EVAL', "return redis.call('SET', 'other', '1')", '0'],
  ['PUBLISH', 'other', 'x'],
  ['SUBSCRIBE', 'other'],
  ['PSUBSCRIBE', '*'],
];

/** Every forbidden command that was not refused with NOPERM, and any door that opens without a password. */
export async function deniedProblems(login: Login): Promise<readonly string[]> {
  const problems: string[] = [];
  const client = quiet(new Redis({ ...login, retryStrategy: () => null }));
  for (const [command, ...args] of forbidden) {
    const refusal = await refusalOf(() => client.call(command, ...args));
    const said = [command, ...args].join(' ');
    if (refusal === undefined) problems.push(`parley may ${said}`);
    else if (!/NOPERM|ACL failure|can't access at least one|DEBUG command not allowed/i.test(refusal)) {
      problems.push(`${said} failed, but not for want of permission: ${refusal}`);
    }
  }
  client.disconnect();
  const strangers = [
    { port: login.port, username: 'default' },
    { ...login, password: 'wrong' },
    { ...login, username: 'replica' },
  ];
  for (const other of strangers) {
    const stranger = quiet(new Redis({ ...other, retryStrategy: () => null, lazyConnect: true }));
    const refusal = await refusalOf(() => stranger.get('parley:a'));
    if (refusal === undefined) problems.push(`somebody without the password may read as ${other.username}`);
    stranger.disconnect();
  }
  return problems;
}

/** The operator looks and takes backups, and changes nothing. */
export async function operatorProblems(operator: Redis): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const [command, ...args] of [
    ['SLOWLOG', 'GET'],
    ['ACL', 'LOG'],
    ['CLIENT', 'LIST'],
    ['BGSAVE'],
    ['LASTSAVE'],
  ]) {
    const refusal = await refusalOf(() => operator.call(command ?? '', ...args));
    if (refusal !== undefined) problems.push(`operator may not ${command}: ${refusal}`);
  }
  for (const [command, ...args] of [['SET', 'parley:a', 'x'], ['FLUSHALL'], ['CONFIG', 'SET', 'hz', '10']]) {
    const refusal = await refusalOf(() => operator.call(command ?? '', ...args));
    if (refusal === undefined) problems.push(`operator may ${command}`);
  }
  return problems;
}

async function refusalOf(step: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await step();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function quiet(client: Redis): Redis {
  return client.on('error', () => {});
}
