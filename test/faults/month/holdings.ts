import type { Redis } from 'ioredis';
import { withRedis } from '../../harness/redis/redis-command.ts';

/** What Redis holds: how many keys there are of each kind, and how many elements the largest of them has. */
export type Holdings = Readonly<Record<string, { readonly keys: number; readonly elements: number }>>;

const COUNT: Readonly<Record<string, (redis: Redis, key: string) => Promise<number>>> = {
  hash: (redis, key) => redis.hlen(key),
  list: (redis, key) => redis.llen(key),
  set: (redis, key) => redis.scard(key),
  stream: (redis, key) => redis.xlen(key),
  string: async () => 1,
  zset: (redis, key) => redis.zcard(key),
};

export function readHoldings(url: string): Promise<Holdings> {
  return withRedis(url, async (redis) => {
    const holdings: Record<string, { keys: number; elements: number }> = {};
    for (const key of await redis.keys('*')) {
      const type = await redis.type(key);
      const elements = (await COUNT[type]?.(redis, key)) ?? 0;
      const kind = kindOf(key);
      const { keys = 0, elements: most = 0 } = holdings[kind] ?? {};
      // A key may expire between the list and its look.
      if (type !== 'none') holdings[kind] = { keys: keys + 1, elements: Math.max(most, elements) };
    }
    return holdings;
  });
}

/** The part of a key that names its kind: neither bucket nor tenant, user or id. */
function kindOf(key: string): string {
  const [, queue, rest = ''] = /^parley:\{([^}]+)\}:(.*)$/.exec(key) ?? [];
  if (queue === undefined) return key;
  const [name = '', part = '', ...more] = rest.split(':');
  if (!queue.startsWith('timers')) return name === 'claim' ? `${name}:${part}` : name;
  if (part === 'repeat') return `${name}:repeat:${more.length < 2 ? (more[0] ?? '') : '…'}`;
  return `${name}:${/^\d+(-\d+)?$/.test(part) ? '<job>' : part}`;
}
