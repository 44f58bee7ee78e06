import type { Heartbeats } from '../../ports/runs/heartbeats.ts';
import type { Commands } from '../client/connect.ts';
import { podKey, podsKey } from '../client/keys.ts';
import { orUnavailable } from '../client/unavailable.ts';

/** Heartbeats as keys that expire, and a set of all pods that sent one. */
export function createRedisHeartbeats(redis: Commands, onError?: (error: unknown) => void): Heartbeats {
  const alive = async (pod: string) => (await orUnavailable(() => redis.exists(podKey(pod)), onError)) === 1;
  return {
    async beat(pod, ttlMs) {
      await orUnavailable(
        () => Promise.all([redis.set(podKey(pod), '1', 'PX', ttlMs), redis.sadd(podsKey(), pod)]),
        onError,
      );
    },
    alive,
    async lapsed() {
      const pods = await orUnavailable(() => redis.smembers(podsKey()), onError);
      const lives = await Promise.all(pods.map(alive));
      return pods.filter((_pod, at) => lives[at] === false);
    },
    async forget(pod) {
      await orUnavailable(() => redis.srem(podsKey(), pod), onError);
      // It may have sent a heartbeat in between and begun a turn.
      if (await alive(pod)) await orUnavailable(() => redis.sadd(podsKey(), pod), onError);
    },
  };
}
