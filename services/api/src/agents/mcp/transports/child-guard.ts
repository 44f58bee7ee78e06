import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** Sees to it that no child outlives this process, not even when that is killed outright. */
export interface ChildGuard {
  /**
   * `target` is killed with this process unless `child` ends before: a process, or with a minus sign a process group.
   * The group that `child` leads unless told.
   */
  watch(child: ChildProcess, target?: number): void;
  /** Kills what is left of the watched, and is gone when it resolves. */
  close(): Promise<void>;
}

// Reads "+ pid" and "- pid"; when its input ends, however that came about, it kills what is left.
const SCRIPT = `
pids=' '
while read -r op pid; do
  case $op in
    +) pids="$pids$pid " ;;
    -) pids="\${pids%% $pid *} \${pids#* $pid }" ;;
  esac
done
for pid in $pids; do kill -9 "$pid" 2>/dev/null; done
`;

/** Starts nothing before there is something to watch. Without `/bin/sh`, children are killed on an orderly end only. */
export function createChildGuard(): ChildGuard {
  let guard: ChildProcess | undefined;

  const tell = (line: string) => {
    if (guard?.stdin?.writable === true) guard.stdin.write(line);
  };

  return {
    watch: (child, target = child.pid === undefined ? undefined : -child.pid) => {
      if (target === undefined) return;
      guard ??= startGuard();
      tell(`+ ${target}\n`);
      child.once('exit', () => tell(`- ${target}\n`));
    },
    close: async () => {
      const closing = guard;
      guard = undefined;
      if (closing === undefined || closing.exitCode !== null || closing.pid === undefined) return;
      const gone = new Promise<void>((resolve) => closing.once('close', () => resolve()));
      closing.ref();
      closing.stdin?.end();
      await gone;
    },
  };
}

function startGuard(): ChildProcess {
  // Of a process group of its own: a signal from the terminal must not take it before its work is done.
  const guard = spawn('/bin/sh', ['-c', SCRIPT], {
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
