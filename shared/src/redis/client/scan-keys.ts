import type { Redis } from 'ioredis';
import type { Commands } from './connect.ts';
import { orUnavailable } from './unavailable.ts';

const COUNT = 500;

/** All masters: those of a Cluster, or the server itself. */
export function mastersOf(redis: Commands): readonly Redis[] {
  return 'nodes' in redis ? redis.nodes('master') : [redis];
}

/**
 * The keys that match a pattern, in pages, from every master. A key that exists during the whole scan is returned at least
 * once. Throws the signal's reason when aborted.
 */
export async function* scanKeys(
  redis: Commands,
  pattern: string,
  onError?: (error: unknown) => void,
  signal?: AbortSignal,
): AsyncGenerator<readonly string[]> {
  for (const server of mastersOf(redis)) {
    let cursor = '0';
    do {
      signal?.throwIfAborted();
      const at = cursor;
      const [next, keys] = await orUnavailable(
        () => server.scan(at, 'MATCH', pattern, 'COUNT', COUNT),
        onError,
      );
      yield keys;
      cursor = next;
    } while (cursor !== '0');
  }
}
