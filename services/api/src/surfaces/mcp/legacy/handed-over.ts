/** A watch of a resource that a request began, for the stream of its session to take over. */
interface HandedWatch {
  /** Whether the resource changed since. */
  readonly hasChanged: () => boolean;
  readonly release: () => void;
}

/** Watches between the request that subscribed and the stream that tells of changes, on one pod. */
export interface HandedOver {
  /** Keeps a watch for a while. */
  put(sessionId: string, uri: string, watch: HandedWatch): void;
  /** True where the resource may have changed since it was subscribed to: it did, or this pod does not know. */
  take(sessionId: string, uri: string): boolean;
}

// The stream of a session on this pod takes it over within a moment. On any other pod, none does.
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
