import type { Heartbeats } from '../ports/heartbeats.ts';
import type { Commands } from './connect.ts';
import { podKey } from './keys.ts';
import { orUnavailable } from './unavailable.ts';

/** Signs of life as keys that lapse. */
export function createRedisHeartbeats(redis: Commands, onError?: (error: unknown) => void): Heartbeats {
  return {
    async beat(pod, ttlMs) {
      await orUnavailable(() => redis.set(podKey(pod), '1', 'PX', ttlMs), onError);
    },
    alive: async (pod) => (await orUnavailable(() => redis.exists(podKey(pod)), onError)) === 1,
  };
}
