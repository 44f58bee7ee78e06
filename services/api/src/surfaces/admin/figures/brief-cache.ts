const KEPT_MS = 5_000;
const ENTRIES_MAX = 1_000;

/** Caches expensive reads for a few seconds, so that many open pages cost no more than one. */
export type BriefCache = <Value>(name: string, load: () => Promise<Value>) => Promise<Value>;

/** A cache in this process. A failed load is not cached. */
export function createBriefCache(): BriefCache {
  const held = new Map<string, { readonly value: Promise<unknown>; readonly until: number }>();
  return <Value>(name: string, load: () => Promise<Value>) => {
    const now = performance.now();
    const known = held.get(name);
    if (known !== undefined && now < known.until) return known.value as Promise<Value>;
    held.delete(name);
    const value = load();
    held.set(name, { value, until: now + KEPT_MS });
    value.catch(() => held.delete(name));
    const [oldest] = held.keys();
    if (held.size > ENTRIES_MAX && oldest !== undefined) held.delete(oldest);
    return value;
  };
}
