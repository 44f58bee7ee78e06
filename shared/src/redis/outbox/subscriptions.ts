import type { Subscriptions } from '../../ports/delivery/subscriptions.ts';
import { userErased } from '../../ports/erasure.ts';
import type { Commands } from '../client/connect.ts';
import { fenceKey, subscribersKey } from '../client/keys.ts';
import { loadScript } from '../client/script.ts';
import { orUnavailable } from '../client/unavailable.ts';

/** Stores the kinds subscribed to each turn as a set in the turn's slot, where step.lua and write.lua read it. */
export function createRedisSubscriptions(redis: Commands, onError?: (error: unknown) => void): Subscriptions {
  const subscribe = loadScript(redis, 'outbox/subscribe', onError);
  return {
    async add(stream, kind, keepMs) {
      const fencedFor = Number(await subscribe([subscribersKey(stream), fenceKey(stream)], [kind, keepMs]));
      if (fencedFor > 0) throw userErased(fencedFor);
    },
    async remove(stream, kind) {
      await orUnavailable(() => redis.srem(subscribersKey(stream), kind), onError);
    },
    of: (stream) => orUnavailable(() => redis.smembers(subscribersKey(stream)), onError),
  };
}
