import type { Heartbeats } from '../ports/heartbeats.ts';
import { createExpiringMap } from './expiring-map.ts';

/** Signs of life in one process. */
export function createMemoryHeartbeats(): Heartbeats {
  const beats = createExpiringMap<true>();
  return {
    beat: async (pod, ttlMs) => beats.set(pod, true, Date.now() + ttlMs),
    alive: async (pod) => beats.get(pod) === true,
  };
}
