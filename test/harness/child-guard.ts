import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

// Reads "+ pid" and "- pid"; at the end of its input, however that came about, kills what is left.
const WATCHDOG = `
pids=' '
while read -r op pid; do
  case $op in
    +) pids="$pids$pid " ;;
    -) pids="\${pids%% $pid *} \${pids#* $pid }" ;;
  esac
done
for pid in $pids; do kill -9 "$pid" 2>/dev/null; done
`;

let input: Socket | undefined;

/**
 * Has `pid` (the child's own unless told) killed when this process ends before the child does, even by SIGKILL: test
 * runners end their workers without a warning, and a frozen server left behind would stay for ever.
 */
export function killWithParent(child: ChildProcess, pid: number | undefined = child.pid): void {
  if (pid === undefined) return;
  input ??= startWatchdog();
  input.write(`+ ${pid}\n`);
  child.once('exit', () => input?.write(`- ${pid}\n`));
}

function startWatchdog(): Socket {
  // Of its own process group, so that Ctrl-C does not take it first.
  const watchdog = spawn('sh', ['-c', WATCHDOG], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  watchdog.unref();
  const stdin = watchdog.stdin as Socket;
  stdin.unref();
  stdin.on('error', () => undefined);
  return stdin;
}
