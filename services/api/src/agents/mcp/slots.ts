/** The numbers of the calls under way, by key. */
interface Slots {
  /** Runs `work` with the lowest number that no other work under this key has. */
  inSlot<T>(key: string, work: (slot: number) => Promise<T>): Promise<T>;
}

/** Makes slots. The connection of a slot carries one call at a time, and the next call in that slot reuses it. */
export function createSlots(): Slots {
  const taken = new Map<string, Set<number>>();

  return {
    async inSlot(key, work) {
      const slots = taken.get(key) ?? new Set();
      taken.set(key, slots);
      let slot = 0;
      while (slots.has(slot)) slot += 1;
      slots.add(slot);
      try {
        return await work(slot);
      } finally {
        slots.delete(slot);
        if (slots.size === 0) taken.delete(key);
      }
    },
  };
}
