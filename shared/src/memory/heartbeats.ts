import type { Heartbeats } from '../ports/runs/heartbeats.ts';
import { createExpiringMap } from './expiring-map.ts';

/** Heartbeats in one process. */
export function createMemoryHeartbeats(): Heartbeats {
  const beats = createExpiringMap<true>();
  const pods = new Set<string>();
  const isAlive = (pod: string) => beats.get(pod) === true;
  return {
    async beat(pod, ttlMs) {
      beats.set(pod, true, Date.now() + ttlMs);
      pods.add(pod);
    },
    alive: async (pod) => isAlive(pod),
    connected: async () => true,
    leases: async (limit) => [...pods].slice(0, limit).map((pod) => ({ pod, isAlive: isAlive(pod) })),
    lapsed: async () => [...pods].filter((pod) => !isAlive(pod)),
    async forget(pod) {
      if (!isAlive(pod)) pods.delete(pod);
    },
  };
}
