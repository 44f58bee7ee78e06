import { readFile } from 'node:fs/promises';

/** Clock ticks per second in /proc, on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** Processor time in seconds, by the name of what used it. */
export type CpuSeconds = Readonly<Record<string, number>>;

/**
 * Processor time that named processes have used so far, and the whole machine as `machine`. Several processes of one
 * name are added up. Empty where there is no /proc.
 */
export async function readCpu(
  processes: readonly (readonly [name: string, pid: number])[],
): Promise<CpuSeconds> {
  const used: Record<string, number> = {};
  try {
    const [total = ''] = (await readFile('/proc/stat', 'utf8')).split('\n');
    const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = total
      .split(/\s+/)
      .slice(1)
      .map(Number);
    used.machine = (user + nice + system + irq + softirq) / TICKS_PER_SECOND;
    for (const [name, pid] of processes) {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
      // The name of the program stands in brackets and may contain blanks.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      used[name] = (used[name] ?? 0) + (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    }
  } catch {
    return {};
  }
  return used;
}

/** What was used between two readings. */
export function cpuBetween(before: CpuSeconds, after: CpuSeconds): CpuSeconds {
  return Object.fromEntries(
    Object.entries(after).map(([name, seconds]) => [name, seconds - (before[name] ?? 0)]),
  );
}
