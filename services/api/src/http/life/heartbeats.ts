// Streams that open together share a slot for their heartbeats. Between slots, the pod can do other work.
const SLOTS = 16;

/** The heartbeats of a pod's streams. */
export interface StreamHeartbeats {
  /** Calls `beat` once in each period from now on; the returned function ends that. */
  add(beat: () => void): () => void;
}

/** Sends a heartbeat to each stream every `everyMs`, with one timer for all streams. */
export function createHeartbeats(everyMs: number): StreamHeartbeats {
  const slots = Array.from({ length: SLOTS }, () => new Set<() => void>());
  let at = 0;
  let count = 0;
  let timer: NodeJS.Timeout | undefined;

  function tick(): void {
    at = (at + 1) % SLOTS;
    for (const beat of slots[at] ?? []) beat();
  }

  return {
    add(beat) {
      // The slot that was served last has a full period until its next turn.
      const slot = slots[at]?.add(beat);
      count += 1;
      timer ??= setInterval(tick, everyMs / SLOTS);
      return () => {
        if (slot?.delete(beat) !== true) return;
        count -= 1;
        if (count > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
  };
}
