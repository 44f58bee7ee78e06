import { isRecord } from '@parley/core/domain/plain-record';

/**
 * The number of values within a value, itself included; one more than `max` where there are more. It stops there, so that
 * what others send is counted before anything goes through it.
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
