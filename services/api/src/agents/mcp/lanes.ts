/** Numbers of the calls under way, by key. */
export interface Lanes {
  /** Runs `work` with the lowest number that no other work of this key has. */
  inLane<T>(key: string, work: (lane: number) => Promise<T>): Promise<T>;
}

/** Makes lanes. A connection in a lane carries one call at a time, and is used again by the next call in that lane. */
export function createLanes(): Lanes {
  const taken = new Map<string, Set<number>>();

  return {
    async inLane(key, work) {
      const lanes = taken.get(key) ?? new Set();
      taken.set(key, lanes);
      let lane = 0;
      while (lanes.has(lane)) lane += 1;
      lanes.add(lane);
      try {
        return await work(lane);
      } finally {
        lanes.delete(lane);
        if (lanes.size === 0) taken.delete(key);
      }
    },
  };
}
