/** A map whose entries expire. */
interface ExpiringMap<T> {
  get(key: string): T | undefined;
  /** All values that have not expired. */
  values(): T[];
  /** Sets or replaces an entry, which expires at `until`, in ms since 1970. */
  set(key: string, value: T, until: number): void;
  /** Replaces the value of an entry and keeps its expiry time. */
  replace(key: string, value: T): void;
  delete(key: string): void;
}

const SLEEP_MAX_MS = 0x7fffffff;

/** Makes an expiring map. Each entry has a timer, so its memory is freed even if it is never read again. */
export function createExpiringMap<T>(): ExpiringMap<T> {
  const held = new Map<string, { value: T; until: number; timer: NodeJS.Timeout }>();

  function arm(key: string, until: number): NodeJS.Timeout {
    const sleepMs = Math.min(Math.max(1, until - Date.now()), SLEEP_MAX_MS);
    return setTimeout(() => removeIfExpired(key), sleepMs).unref();
  }

  function removeIfExpired(key: string): void {
    const entry = held.get(key);
    if (entry === undefined) return;
    if (entry.until <= Date.now()) held.delete(key);
    else entry.timer = arm(key, entry.until);
  }

  return {
    get(key) {
      const entry = held.get(key);
      return entry !== undefined && entry.until > Date.now() ? entry.value : undefined;
    },
    values: () => [...held.values()].filter(({ until }) => until > Date.now()).map(({ value }) => value),
    replace(key, value) {
      const entry = held.get(key);
      if (entry !== undefined) entry.value = value;
    },
    delete(key) {
      clearTimeout(held.get(key)?.timer);
      held.delete(key);
    },
    set(key, value, until) {
      clearTimeout(held.get(key)?.timer);
      held.set(key, { value, until, timer: arm(key, until) });
    },
  };
}
