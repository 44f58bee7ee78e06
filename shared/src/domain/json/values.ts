import { isRecord } from '@parley/core/domain/plain-record';

/**
 * Counts the values inside a value, including itself. Counting stops at `max + 1`, so that received data is measured before any
 * code walks through all of it.
 */
export function countValues(value: unknown, max: number): number {
  const found: unknown[] = [value];
  for (let at = 0; at < found.length; at += 1) {
    const next = found[at];
    const isList = Array.isArray(next);
    if (!isList && !isRecord(next)) continue;
    for (const name in next) {
      if (found.length >= max) return max + 1;
      found.push((next as Record<string, unknown>)[name]);
    }
  }
  return found.length;
}
