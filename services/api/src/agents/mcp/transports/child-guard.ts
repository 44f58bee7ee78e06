import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { MARKS_OF_POD } from './child-process.ts';
import { MARK } from './process-table.ts';

/** Ensures that no child process outlives this process, even if this process is killed with SIGKILL. */
export interface ChildGuard {
  /**
   * Kills `target` when this process ends, unless `child` has exited before. `target` is a process id or a negated process
   * group id; by default, the process group of `child`.
   */
  watch(child: ChildProcess, target?: number): void;
  /** Kills the remaining targets. Resolves when the guard has exited. */
  close(): Promise<void>;
}

// A shell script that reads "+ pid" and "- pid". When its input ends for any reason, it kills the remaining targets.
const SCRIPT = `
pids=' '
while read -r op pid; do
  case $op in
    +) pids="$pids$pid " ;;
    -) pids="\${pids%% $pid *} \${pids#* $pid }" ;;
  esac
done
for pid in $pids; do kill -9 "$pid" 2>/dev/null; done
# What these have started in other groups. The environment of a process holds strings that end with a zero byte.
for environment in $(grep -ls "${MARK}=$1" /proc/[0-9]*/environ 2>/dev/null); do
  pid=\${environment#/proc/}
  kill -9 "\${pid%/environ}" 2>/dev/null
done
`;

/** Starts the guard's process at the first `watch`. Without `/bin/sh`, children are killed only on an orderly shutdown. */
export function createChildGuard(): ChildGuard {
  let guard: ChildProcess | undefined;

  const write = (line: string) => {
    if (guard?.stdin?.writable === true) guard.stdin.write(line);
  };

  return {
    watch: (child, target = child.pid === undefined ? undefined : -child.pid) => {
      if (target === undefined) return;
      guard ??= startGuard();
      write(`+ ${target}\n`);
      child.once('exit', () => write(`- ${target}\n`));
    },
    close: async () => {
      const closing = guard;
      guard = undefined;
      if (closing === undefined || closing.exitCode !== null || closing.pid === undefined) return;
      const exited = new Promise<void>((resolve) => closing.once('close', () => resolve()));
      closing.ref();
      closing.stdin?.end();
      await exited;
    },
  };
}

function startGuard(): ChildProcess {
  // The guard has its own process group: a signal from the terminal must not end it before it has killed its targets.
  const guard = spawn('/bin/sh', ['-c', SCRIPT, 'guard', MARKS_OF_POD], {
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.on('error', () => undefined);
  guard.stdin?.on('error', () => undefined);
  (guard.stdin as Socket | null)?.unref();
  guard.unref();
  return guard;
}
