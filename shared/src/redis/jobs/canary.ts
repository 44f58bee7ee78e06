import type { Commands } from '../client/connect.ts';
import { canaryKey } from '../client/keys.ts';
import { orUnavailable } from '../client/unavailable.ts';

// Long, so that a dead canary shows as a growing age and not as a missing value.
const KEPT_MS = 24 * 3_600_000;

/** The canary job, which proves that jobs run: it stores the Redis clock (ms) for `health` to read. */
export function createCanary(redis: Commands, onError?: (error: unknown) => void): () => Promise<void> {
  return () =>
    orUnavailable(async () => {
      const [seconds, microseconds] = await redis.time();
      const now = Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
      await redis.set(canaryKey(), now, 'PX', KEPT_MS);
    }, onError);
}
