import { readdir, readFile } from 'node:fs/promises';

/** A process. Its start time distinguishes it from a later process with the same id. */
interface RunningProcess {
  readonly pid: number;
  readonly start: string;
}

interface TableEntry extends RunningProcess {
  readonly parent: number;
  readonly mark: string | undefined;
}

/**
 * The environment variable that marks a program and all processes that it starts. They inherit it even if they leave the
 * program's group and session, or if their parent has ended.
 */
export const MARK = 'PARLEY_PROGRAM';

/**
 * The processes that a program has started, directly or indirectly: all with its mark, and all that descend from it now. A
 * process that has cleared its environment is found only by descent. Empty on systems without `/proc`.
 */
export async function startedBy(pid: number | undefined, mark: string): Promise<RunningProcess[]> {
  const table = await readTable();
  const found = new Set<number>(pid === undefined ? [] : [pid]);
  for (const each of table) if (each.mark === mark) found.add(each.pid);
  for (let size = 0; size !== found.size; ) {
    size = found.size;
    for (const each of table) if (found.has(each.parent)) found.add(each.pid);
  }
  return table.filter((each) => found.has(each.pid) && each.pid !== pid && each.pid !== process.pid);
}

/** Filters the processes that are still running. */
export async function stillRunning(processes: readonly RunningProcess[]): Promise<RunningProcess[]> {
  const entries = await Promise.all(processes.map(({ pid }) => readStat(pid)));
  return processes.filter(({ start }, at) => entries[at]?.start === start);
}

async function readTable(): Promise<TableEntry[]> {
  const names = await readdir('/proc').catch(() => []);
  const entries = await Promise.all(
    names
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .map(readEntry),
  );
  return entries.filter((entry) => entry !== undefined);
}

async function readEntry(pid: number): Promise<TableEntry | undefined> {
  const stat = await readStat(pid);
  if (stat === undefined) return undefined;
  // Environments of other users' processes cannot be read. Those processes are not Parley's.
  const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
  const pair = environment.split('\0').find((one) => one.startsWith(`${MARK}=`));
  return { ...stat, mark: pair?.slice(MARK.length + 1) };
}

/** Undefined for a process that has ended, including one whose exit status nobody has read. */
async function readStat(pid: number): Promise<Omit<TableEntry, 'mark'> | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  // The program's name is in parentheses and may contain any characters. After it: state, parent, …, start time (the 22nd
  // field).
  const [state, parent, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const start = rest[17];
  if (state === undefined || start === undefined || state === 'Z' || state === 'X') return undefined;
  return { pid, start, parent: Number(parent) };
}
