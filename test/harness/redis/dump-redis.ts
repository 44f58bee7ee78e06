import type { Redis } from 'ioredis';

type Read = readonly [string, ...string[]];

/** Returns all Redis keys of that pattern as text, each with its value, of any type. */
export async function dumpRedis(redis: Redis, pattern = '*'): Promise<string[]> {
  const names = await redis.keys(pattern);
  const types = await Promise.all(names.map((name) => redis.type(name)));
  return Promise.all(
    names.map(async (name, index) => {
      const [command, ...args] = readOf(types[index] ?? '', name);
      return `${name} ${JSON.stringify(await redis.call(command, ...args))}`;
    }),
  );
}

function readOf(type: string, name: string): Read {
  const reads: Readonly<Record<string, Read>> = {
    string: ['GET', name],
    hash: ['HGETALL', name],
    zset: ['ZRANGE', name, '0', '-1', 'WITHSCORES'],
    list: ['LRANGE', name, '0', '-1'],
    set: ['SMEMBERS', name],
    stream: ['XRANGE', name, '-', '+'],
    // The key expired since its name was read.
    none: ['EXISTS', name],
  };
  const read = reads[type];
  if (read === undefined) throw new Error(`${name} is a ${type}, which this helper cannot read`);
  return read;
}
