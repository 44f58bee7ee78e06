interface CacheOptions {
  readonly ttlMs: number;
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
}

/**
 * Caches the result of `load` for `ttlMs`. Concurrent callers share one load. A failed load is not cached: the next call tries
 * again, and an outdated value is returned rather than none.
 */
export function createCached<T>(load: () => Promise<T>, { ttlMs, now }: CacheOptions): () => Promise<T> {
  let held: { readonly value: T; readonly until: number } | undefined;
  let loading: Promise<T> | undefined;

  async function reload(): Promise<T> {
    try {
      const value = await load();
      held = { value, until: now() + ttlMs };
      return value;
    } catch (error) {
      if (held !== undefined) return held.value;
      throw error;
    } finally {
      loading = undefined;
    }
  }

  return () => {
    if (held !== undefined && now() < held.until) return Promise.resolve(held.value);
    loading ??= reload();
    return loading;
  };
}
