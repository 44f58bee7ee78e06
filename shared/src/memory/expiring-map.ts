/** A map whose entries leave by themselves. */
export interface ExpiringMap<T> {
  get(key: string): T | undefined;
  /** All that has not left. */
  values(): T[];
  /** Sets or replaces an entry, to leave at `until`, in ms since 1970. */
  set(key: string, value: T, until: number): void;
}

const SLEEP_MAX_MS = 0x7fffffff;

/** Entries of a process that leave after their time, also when nobody asks for them; one timer each. */
export function createExpiringMap<T>(): ExpiringMap<T> {
  const held = new Map<string, { value: T; until: number; timer: NodeJS.Timeout }>();

  function arm(key: string, until: number): NodeJS.Timeout {
    const sleepMs = Math.min(Math.max(1, until - Date.now()), SLEEP_MAX_MS);
    return setTimeout(() => look(key), sleepMs).unref();
  }

  function look(key: string): void {
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
    set(key, value, until) {
      clearTimeout(held.get(key)?.timer);
      held.set(key, { value, until, timer: arm(key, until) });
    },
  };
}
