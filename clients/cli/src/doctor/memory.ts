import { type Finding, fault } from './finding.ts';

const USED_SHARE_MAX = 0.9;

interface MemoryOfServer {
  readonly usedMemoryBytes?: number | undefined;
  /** Absent when there is no limit. */
  readonly maxMemoryBytes?: number | undefined;
}

/** The faults of a Redis's memory; none if Redis does not report it. */
export function memoryFindings(
  check: string,
  { usedMemoryBytes: used, maxMemoryBytes: max }: MemoryOfServer,
): readonly Finding[] {
  if (used === undefined) return [];
  if (max === undefined) return [fault(check, 'no_memory_limit', 'It has no limit of memory.', 'unknown')];
  if (used < max * USED_SHARE_MAX) return [];
  const percent = Math.round((used / max) * 100);
  return [fault(check, 'memory_nearly_full', `${percent} % of its memory is used.`)];
}
