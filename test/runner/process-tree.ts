import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts processor time in hundredths of a second for programs that ask. */
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4_096;

interface Seen {
  readonly pid: number;
  readonly parent: number;
  /** Tells a process from a later one with the same pid. */
  readonly startedAt: string;
  readonly isRunnable: boolean;
  readonly seconds: number;
  readonly bytes: number;
}

export interface TreeUse {
  /** Processor seconds by whatever a process worked for. */
  readonly seconds: ReadonlyMap<string, number>;
  /** The most resident memory that all processes held at a time, in bytes. Shared pages count once a process. */
  readonly peakBytes: number;
  /** Processes that wanted a core, on average over all samples. */
  readonly runQueue: number;
}

export interface ProcessTree {
  /** Says what the process `pid` works for from now on; what it starts later works for the same. */
  assign(pid: number, what: string): void;
  /** How many processes of test files wanted a core when the tree was last looked at. */
  wanting(): number;
  use(): TreeUse;
  /** Looks once more, and no longer from then on. */
  stop(): void;
}

const SAMPLE_MS = 500;
/** Processes that belong to nobody here are read again once in so many looks, in case that another one has their number. */
const STRANGERS_EVERY = 10;

/** What a process works for that was not assigned to a test file. */
export const RUNNER = 'the runner';

/**
 * Follows the descendants of this process: looks at /proc twice a second. A process that lost its parent is still known.
 * What a process takes after the last look at it is missing. Where there is no /proc nothing is seen, and everything
 * costs 0.
 */
export function followProcesses(): ProcessTree {
  const seconds = new Map<string, number>();
  const known = new Map<string, { seconds: number; what: string }>();
  const assigned = new Map<number, string>();
  const strangers = new Set<string>();
  let peakBytes = 0;
  let samples = 0;
  let runnable = 0;
  let wanted = 0;

  function sample(): void {
    if (samples % STRANGERS_EVERY === 0) strangers.clear();
    const all = new Map(listProcesses(strangers).map((process) => [process.pid, process]));
    let [bytes, wanting] = [0, 0];
    for (const process of all.values()) {
      const key = `${process.pid} ${process.startedAt}`;
      const before = known.get(key);
      const what = before === undefined || assigned.has(process.pid) ? workOf(process, all) : before.what;
      if (what === undefined) {
        strangers.add(`${process.pid}`);
        continue;
      }
      bytes += process.bytes;
      // The runner itself always runs while it looks.
      if (process.isRunnable && what !== RUNNER) wanting += 1;
      const more = process.seconds - (before?.seconds ?? 0);
      seconds.set(what, (seconds.get(what) ?? 0) + more);
      known.set(key, { seconds: process.seconds, what });
    }
    peakBytes = Math.max(peakBytes, bytes);
    samples += 1;
    runnable += wanting;
    wanted = wanting;
  }

  /** What the nearest assigned ancestor works for; undefined for a stranger to this process. */
  function workOf(process: Seen, all: ReadonlyMap<number, Seen>): string | undefined {
    for (let each: Seen | undefined = process; each !== undefined; each = all.get(each.parent)) {
      const what = assigned.get(each.pid);
      if (what !== undefined) return what;
      if (each.pid === globalThis.process.pid) return RUNNER;
    }
    return undefined;
  }

  const looking = setInterval(sample, SAMPLE_MS);
  return {
    assign(pid, what) {
      // What the process has taken so far belongs to what it worked for before.
      sample();
      assigned.set(pid, what);
    },
    wanting: () => wanted,
    use: () => ({ seconds, peakBytes, runQueue: samples === 0 ? 0 : runnable / samples }),
    stop() {
      clearInterval(looking);
      sample();
    },
  };
}

/** All processes but those. */
function listProcesses(strangers: ReadonlySet<string>): Seen[] {
  const isRead = (name: string) => /^\d+$/.test(name) && !strangers.has(name);
  try {
    return readdirSync('/proc').flatMap((name) => (isRead(name) ? (readStat(name) ?? []) : []));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Reads /proc/PID/stat (proc_pid_stat(5)); undefined for a process that has ended. */
function readStat(pid: string): Seen | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The name of the program, in brackets, may hold blanks and brackets.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const number = (at: number) => Number(fields[at]);
  return {
    pid: Number(pid),
    isRunnable: fields[0] === 'R',
    parent: number(1),
    seconds: (number(11) + number(12)) / TICKS_PER_SECOND,
    startedAt: fields[19] ?? '',
    bytes: number(21) * PAGE_BYTES,
  };
}
