import { readFile } from 'node:fs/promises';

// Linux counts the time of processes in these for every program, whatever the kernel's own tick is.
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4096;

/** What a process has used so far. */
interface ProcessUsage {
  /** User and system time, in seconds. */
  readonly cpuSeconds: number;
  readonly residentBytes: number;
}

/** Reads the usage of a process from /proc; undefined where there is none. */
export async function processUsage(pid: number): Promise<ProcessUsage | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // The name in brackets may contain blanks. proc(5) counts the fields from 1.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  const field = (number: number) => Number(fields?.[number - 3]);
  if (fields === undefined) return undefined;
  return { cpuSeconds: (field(14) + field(15)) / TICKS_PER_SECOND, residentBytes: field(24) * PAGE_BYTES };
}

/** CPU time of processes so far, in seconds; 0 where there is no /proc. */
export async function cpuSecondsOf(pids: readonly number[]): Promise<number> {
  const used = await Promise.all(pids.map(processUsage));
  return used.reduce((sum, usage) => sum + (usage?.cpuSeconds ?? 0), 0);
}
