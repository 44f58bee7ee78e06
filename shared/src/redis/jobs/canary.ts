import type { Commands } from '../client/connect.ts';
import { canaryKey } from '../client/keys.ts';
import { orUnavailable } from '../client/unavailable.ts';

// Long, so that a dead canary shows as an age that grows, and not as silence.
const KEPT_MS = 24 * 3_600_000;

/** Makes the beat that proves that jobs come through: it leaves the Redis clock, in ms, where `health` looks. */
export function createCanary(redis: Commands, onError?: (error: unknown) => void): () => Promise<void> {
  return () =>
    orUnavailable(async () => {
      const [seconds, microseconds] = await redis.time();
      const now = Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
      await redis.set(canaryKey(), now, 'PX', KEPT_MS);
    }, onError);
}
