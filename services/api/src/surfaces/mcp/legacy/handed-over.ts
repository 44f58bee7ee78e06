/** A resource watch that a request began, and that the session's stream takes over. */
interface HandedWatch {
  /** True if the resource has changed since. */
  readonly hasChanged: () => boolean;
  readonly release: () => void;
}

/** Watches on one pod, between the request that subscribed and the stream that reports changes. */
export interface HandedOver {
  /** Keeps a watch for a while. */
  put(sessionId: string, uri: string, watch: HandedWatch): void;
  /**
   * Ends a kept watch. Returns true if the resource may have changed since the subscription: because it did, or because this
   * pod has no watch.
   */
  take(sessionId: string, uri: string): boolean;
}

// How long a watch is kept. The session's stream takes it over within a moment if it is on this pod, and never if it is on
// another.
const KEPT_MS = 5_000;

export function createHandedOver(): HandedOver {
  const kept = new Map<string, HandedWatch & { readonly timer: NodeJS.Timeout }>();
  const keyOf = (sessionId: string, uri: string) => JSON.stringify([sessionId, uri]);

  function end(key: string): boolean | undefined {
    const watch = kept.get(key);
    kept.delete(key);
    clearTimeout(watch?.timer);
    const hasChanged = watch?.hasChanged();
    watch?.release();
    return hasChanged;
  }

  return {
    put(sessionId, uri, watch) {
      const key = keyOf(sessionId, uri);
      end(key);
      kept.set(key, { ...watch, timer: setTimeout(() => end(key), KEPT_MS).unref() });
    },
    take: (sessionId, uri) => end(keyOf(sessionId, uri)) ?? true,
  };
}
