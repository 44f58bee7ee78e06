import type { Commands } from './connect.ts';
import { BUCKETS } from './keys.ts';
import { loadScript } from './script.ts';

/**
 * Makes a search for the buckets in which any of some keys exists: one script call on one server, or one for each bucket on a
 * Cluster. Each call may fail or hang independently.
 */
export function createOccupied(
  redis: Commands,
  onError?: (error: unknown) => void,
): (keysOf: (bucket: number) => readonly string[]) => readonly Promise<readonly number[]>[] {
  const occupiedScript = loadScript(redis, 'client/occupied', onError);
  const groups = redis.isCluster ? BUCKETS.map((bucket) => [bucket]) : [BUCKETS];
  return (keysOf) =>
    groups.map(async (buckets) => {
      const keys = buckets.flatMap((bucket) => keysOf(bucket).map((key) => ({ bucket, key })));
      if (keys.length === 0) return [];
      const names = keys.map(({ key }) => key);
      const found = (await occupiedScript(names, [])) as number[];
      return [...new Set(found.map((at) => keys[at - 1]?.bucket ?? 0))];
    });
}
