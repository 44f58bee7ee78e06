import type { Heartbeats } from '../../ports/runs/heartbeats.ts';
import type { Commands } from '../client/connect.ts';
import { podKey, podsKey } from '../client/keys.ts';
import { orUnavailable } from '../client/unavailable.ts';

// After an outage of Redis, each pod has this long to subscribe again before a missing subscription counts.
const SETTLED_MS = 5_000;
const NO_CHANNEL = '1';

interface RedisHeartbeatsDeps {
  readonly redis: Commands;
  /**
   * A channel to which only this pod subscribes, and for how long its subscription has been healthy. Absent when subscribers
   * cannot be counted.
   */
  readonly line?: { readonly channel: string; readonly healthyForMs: () => number };
  readonly onError?: (error: unknown) => void;
}

/**
 * Heartbeats as keys that expire, and a set of all pods that sent one. The value of a pod's key names its channel. When a
 * process dies, Redis ends its subscription at once, long before the key expires.
 */
export function createRedisHeartbeats({ redis, line, onError }: RedisHeartbeatsDeps): Heartbeats {
  const alive = async (pod: string) => (await orUnavailable(() => redis.exists(podKey(pod)), onError)) === 1;

  function ownChannel(): string {
    return line !== undefined && line.healthyForMs() > 0 ? line.channel : NO_CHANNEL;
  }

  async function connected(pod: string): Promise<boolean> {
    if (line === undefined || line.healthyForMs() < SETTLED_MS) return true;
    const channel = await orUnavailable(() => redis.get(podKey(pod)), onError);
    if (channel === null || channel === NO_CHANNEL) return true;
    const counts = await orUnavailable(() => redis.pubsub('NUMSUB', line.channel, channel), onError);
    const [, own, , other] = counts as readonly unknown[];
    return Number(own) === 0 || Number(other) > 0;
  }

  return {
    async beat(pod, ttlMs) {
      await orUnavailable(
        () => Promise.all([redis.set(podKey(pod), ownChannel(), 'PX', ttlMs), redis.sadd(podsKey(), pod)]),
        onError,
      );
    },
    alive,
    connected,
    async leases(limit) {
      const pods = await orUnavailable(() => redis.srandmember(podsKey(), limit), onError);
      return Promise.all(pods.map(async (pod) => ({ pod, isAlive: await alive(pod) })));
    },
    async lapsed() {
      const pods = await orUnavailable(() => redis.smembers(podsKey()), onError);
      const lives = await Promise.all(pods.map(alive));
      return pods.filter((_pod, at) => lives[at] === false);
    },
    async forget(pod) {
      await orUnavailable(() => redis.srem(podsKey(), pod), onError);
      // The pod may have sent a heartbeat in between and begun a turn.
      if (await alive(pod)) await orUnavailable(() => redis.sadd(podsKey(), pod), onError);
    },
  };
}
