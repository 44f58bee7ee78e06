import { Redis } from 'ioredis';
import { waitUntil } from '../wait-until.ts';

/** Where to send a command: a port on 127.0.0.1 or a `redis://` URL. */
export type RedisAddress = number | string;

/**
 * Runs `use` over a connection of its own that never retries and never queues for longer than `timeoutMs`
 * (10 s by default), so that a dead or frozen server is an error and not a wait.
 */
export async function withRedis<T>(
  at: RedisAddress,
  use: (redis: Redis) => Promise<T>,
  timeoutMs = 10_000,
): Promise<T> {
  const redis = new Redis(typeof at === 'number' ? `redis://127.0.0.1:${at}` : at, {
    lazyConnect: true,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    maxRetriesPerRequest: 0,
    retryStrategy: null,
    enableReadyCheck: false,
    disconnectTimeout: 100,
    disableClientInfo: true,
  });
  let cause: Error | undefined;
  redis.on('error', (error: Error) => {
    cause ??= error;
  });
  try {
    await redis.connect();
    return await use(redis);
  } catch (error) {
    // ioredis rejects with "Connection is closed."; the event before it says why.
    throw String(error).includes('Connection is closed') ? (cause ?? error) : error;
  } finally {
    redis.disconnect();
  }
}

/** One command, one connection, its reply as Redis gave it. */
export function redisCommand(
  at: RedisAddress,
  ...[name, ...args]: [string, ...(string | number)[]]
): Promise<unknown> {
  return withRedis(at, (redis) => redis.call(name, ...args));
}

/** The `key:value` lines of an INFO or CLUSTER INFO reply. */
export function infoFields(reply: unknown): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const line of String(reply).split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1);
  }
  return fields;
}

/** The version the server gives itself, as in `7.0.15`. */
export async function redisVersion(at: RedisAddress): Promise<string | undefined> {
  const info = await withRedis(at, (redis) => redis.info('server'));
  return infoFields(info).redis_version;
}

/** Waits until a replica has all that its master has written until now. Before, a failover may lose some of it. */
export async function untilReplicated(master: RedisAddress): Promise<void> {
  const replication = async () => infoFields(await redisCommand(master, 'INFO', 'replication'));
  const written = Number((await replication()).master_repl_offset);
  const acknowledged = async () => {
    const { slave0 = '' } = await replication();
    return Number(/,offset=(\d+)/.exec(slave0)?.[1]) >= written;
  };
  await waitUntil(acknowledged, { what: `the replica of ${master} to have all that was written` });
}

/** How many calls the servers have answered with errors of these codes since they started. */
export async function countErrors(
  servers: readonly { readonly url: string }[],
  codes: readonly string[],
): Promise<number> {
  const counts = servers.map(async ({ url }) => {
    const fields = infoFields(await redisCommand(url, 'INFO', 'errorstats'));
    return codes.map((code) => Number(/\d+/.exec(fields[`errorstat_${code}`] ?? '') ?? 0));
  });
  return (await Promise.all(counts)).flat().reduce((sum, count) => sum + count, 0);
}
