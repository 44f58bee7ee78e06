import { CHOSEN, findRedisBinary, installRedis, tooOld } from './ensure-redis-server.ts';
import { redisVersion } from './redis-command.ts';
import { startRedis } from './redis-server.ts';

export { ensureRedisServer } from './ensure-redis-server.ts';

/** A Redis to test against. `serverBinary` is known when it was started from one. `stop` leaves a given server alone. */
export type FoundRedis = { url: string; how: string; serverBinary?: string; stop(): Promise<void> };

/** Those of a server with its own settings, without the first. */
const DATABASES = 15;

type Way = () => Promise<FoundRedis | { reason: string }>;

/**
 * Finds a Redis of version 7 or later: `REDIS_URL`; `PARLEY_TEST_REDIS_SERVER`; redis-server on the PATH; Docker;
 * redis-server from apt-get when this process is root. Prints one line with what it took and why. A `REDIS_URL` that does
 * not answer, or a server that is too old, is never replaced by another where it was set on purpose.
 */
export async function findRedis(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<FoundRedis | { notRun: string }> {
  const given = env.REDIS_URL;
  const path = env.PATH ?? '';
  const ways: Way[] = given
    ? [() => useGiven(ownDatabase(given, Number(env.VITEST_POOL_ID)))]
    : [
        () => startFrom(() => findRedisBinary(path)),
        ...(CHOSEN === undefined ? [startInDocker, () => startFrom(() => installRedis(path))] : []),
      ];
  const reasons: string[] = [];
  for (const way of ways) {
    const found = await way().catch((error: unknown) => ({ reason: firstLine(error) }));
    if ('url' in found) {
      say(`${found.how}${reasons.length > 0 ? ` (${reasons.join('; ')})` : ''}`);
      return found;
    }
    reasons.push(found.reason);
  }
  const notRun = `no Redis: ${reasons.join('; ')}`;
  say(notRun);
  return { notRun };
}

async function useGiven(url: string): Promise<FoundRedis | { reason: string }> {
  const refusal = tooOld(await redisVersion(url));
  if (refusal) return { reason: `REDIS_URL: ${refusal}` };
  return { url, how: 'the Redis that REDIS_URL names', stop: async () => undefined };
}

/**
 * Gives each process of vitest a database of its own on a server that they share. In one database the pods of a test file would
 * take up the turns that wait in another file, and its workers would forget the workers of the other.
 */
function ownDatabase(url: string, worker: number): string {
  const own = new URL(url);
  if (!(worker >= 1) || own.pathname.length > 1) return url;
  own.pathname = `/${1 + ((worker - 1) % DATABASES)}`;
  return own.href;
}

async function startFrom(
  look: () => ReturnType<typeof findRedisBinary>,
): Promise<FoundRedis | { reason: string }> {
  const found = await look();
  if ('reason' in found) return found;
  const server = await startRedis({ binary: found.binary });
  return {
    url: server.url,
    how: `${found.binary}, started on port ${server.port}`,
    serverBinary: found.binary,
    stop: () => server.stop(),
  };
}

async function startInDocker(): Promise<FoundRedis | { reason: string }> {
  const { GenericContainer } = await import('testcontainers');
  const container = await new GenericContainer('redis:7').withExposedPorts(6379).start();
  const url = `redis://${container.getHost()}:${container.getMappedPort(6379)}`;
  const stop = async () => {
    await container.stop();
  };
  const refusal = tooOld(await redisVersion(url).catch(() => undefined));
  if (!refusal) return { url, how: 'a redis:7 container', stop };
  await stop();
  return { reason: `Docker: ${refusal}` };
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}

function say(line: string): void {
  process.stdout.write(`redis: ${line}\n`);
}
