import type { Redis } from 'ioredis';

/** User and system time that the server has used, in seconds. */
export async function cpuSeconds(redis: Redis): Promise<number> {
  const info = await redis.info('cpu');
  const field = (name: string) => Number(new RegExp(`${name}:([0-9.]+)`).exec(info)?.[1]);
  return field('used_cpu_user') + field('used_cpu_sys');
}

/** User and system time of the server for each of `count` things that `run` does, in microseconds. */
export async function redisCpu(redis: Redis, count: number, run: () => Promise<unknown>): Promise<number> {
  const before = await cpuSeconds(redis);
  await run();
  // Jobs are added after the replies.
  await new Promise((resolve) => setTimeout(resolve, 300));
  return ((await cpuSeconds(redis)) - before) * (1e6 / count);
}

/** How often the server executed a command, and the microseconds that it took for all of them. */
export interface CommandUse {
  readonly calls: number;
  readonly microseconds: number;
}

/**
 * What the server has executed, by command. The commands of a script count by themselves and within `evalsha`, so that what
 * is left of it is the script's own time.
 */
export async function commandUse(redis: Redis): Promise<ReadonlyMap<string, CommandUse>> {
  const lines = (await redis.info('commandstats')).matchAll(/^cmdstat_([^:]+):calls=(\d+),usec=(\d+)/gm);
  return new Map(
    [...lines].map(([, name = '', calls, usec]) => [
      name,
      { calls: Number(calls), microseconds: Number(usec) },
    ]),
  );
}

/** Bytes that the server has allocated. */
export async function usedMemory(redis: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
}

/** Bytes of all keys by kind: the first word after the key's hash tag, and `timers` for the keys of BullMQ. */
export async function bytesByKind(redis: Redis): Promise<Map<string, number>> {
  const sums = new Map<string, number>();
  for await (const found of redis.scanStream({ match: 'parley:*', count: 1_000 })) {
    const keys = found as string[];
    const sizes = await Promise.all(keys.map((key) => redis.memory('USAGE', key, 'SAMPLES', 0)));
    for (const [index, key] of keys.entries()) {
      const kind = kindOf(key);
      sums.set(kind, (sums.get(kind) ?? 0) + (sizes[index] ?? 0));
    }
  }
  return sums;
}

/** Bytes of each kind for one of `count`, the largest first. */
export function formatBytes(sums: ReadonlyMap<string, number>, count: number): string {
  return [...sums]
    .sort(([, left], [, right]) => right - left)
    .map(([kind, bytes]) => `${kind} ${Math.round(bytes / count)}`)
    .join(', ');
}

function kindOf(key: string): string {
  if (key.startsWith('parley:{timers')) return 'timers';
  return /^parley:\{[^}]+\}:([\w-]+)/.exec(key)?.[1] ?? 'other';
}

/** How many commands Redis has executed, without the questions of the bench. */
export async function countCommands(redis: Redis): Promise<number> {
  return [...(await commandUse(redis))].reduce(
    (sum, [name, { calls }]) => sum + (name === 'info' ? 0 : calls),
    0,
  );
}
