const TICK_MS = 20;
// This makes 1,250 channels a second. For more than 5,000 channels the rate is higher, so that four seconds are enough.
const PER_TICK_MIN = 25;
const TICKS_MAX = 200;

/** The channels whose listeners must still be told to read after a lost connection. */
interface ResyncQueue {
  /** Adds channels. Each is notified once, in the order in which it was first added. */
  add(channels: readonly string[]): void;
  close(): void;
}

/**
 * Spreads resyncs over time, because each makes a listener read, a pod may have thousands of listeners, and other pods lost the
 * same Redis at the same time. A channel keeps its place when the connection is lost again, so that no channel starves on a
 * link that fails repeatedly.
 */
export function createResyncQueue(notify: (channel: string) => void): ResyncQueue {
  const queue = new Set<string>();
  let perTick = PER_TICK_MIN;
  let timer: NodeJS.Timeout | undefined;

  function close(): void {
    clearInterval(timer);
    timer = undefined;
    perTick = PER_TICK_MIN;
    queue.clear();
  }

  function tick(): void {
    for (const channel of [...queue].slice(0, perTick)) {
      queue.delete(channel);
      notify(channel);
    }
    if (queue.size === 0) close();
  }

  return {
    add(channels) {
      for (const channel of channels) queue.add(channel);
      perTick = Math.max(perTick, Math.ceil(queue.size / TICKS_MAX));
      if (queue.size === 0 || timer !== undefined) return;
      timer = setInterval(tick, TICK_MS).unref();
      tick();
    },
    close,
  };
}
