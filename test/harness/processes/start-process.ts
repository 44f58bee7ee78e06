import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { paced } from '../pace.ts';
import { bundleEntry } from './bundle.ts';
import { killWithParent } from './child-guard.ts';
import { collectOutput, type Exit, type JsonLine } from './process-output.ts';

export type ProcessOptions = {
  /** Name of the process in messages. */
  name: string;
  /** A TypeScript file, relative to the repository's root; or a script, which runs as it is. */
  entry: string;
  /** The whole environment, with PATH and HOME added: nothing else is inherited. */
  env?: Record<string, string>;
  /** Whether this line of JSON on stdout says that the process is ready. */
  readyWhen: (line: JsonLine) => boolean;
  nodeArgs?: readonly string[];
  /**
   * What node runs: a `bundle` of the entry (the default), made once for all tests, as images and packages do; or the
   * `sources` through tsx, as `npm run api` does.
   */
  runs?: 'bundle' | 'sources';
  /** A command to run node under, such as what `fakeTime` gives. */
  wrap?: string[];
  /** 60,000 by default, more on a slow machine. */
  readyTimeoutMs?: number;
};

/** A node process under test. */
export type ManagedProcess = {
  readonly name: string;
  /** Of node itself, also under a wrapper that forks. */
  readonly pid: number;
  /** Every line of stdout, growing. */
  readonly lines: readonly string[];
  /** Every line of stderr, growing. */
  readonly stderr: readonly string[];
  /** The line that said it was ready. */
  readonly ready: JsonLine;
  /** Sends a signal to node; nothing when it is gone. */
  kill(signal: NodeJS.Signals): void;
  /** SIGSTOP: keeps its connections and does nothing. */
  freeze(): void;
  /** SIGCONT. */
  thaw(): void;
  /** How it ended; under a wrapper that forks, how the wrapper did. All output is in by then. */
  readonly exited: Promise<Exit>;
  /** SIGTERM, and SIGKILL after `graceMs` (5 s by default); resolves when it is gone. A frozen one is thawed. */
  stop(graceMs?: number): Promise<Exit>;
};

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
// Prints its pid before it becomes node: a wrapper may fork, and a signal sent to it would not reach node.
const TELL_PID = ['sh', '-c', 'echo $$ >&3; exec "$@" 3>&-', 'sh'];

/** Starts an entry file and resolves when it is ready; rejects with its last output when it ends or stays silent. */
export async function startProcess(options: ProcessOptions): Promise<ManagedProcess> {
  const { name, readyWhen, readyTimeoutMs = paced(60_000) } = options;
  const child = spawnNode(options, await programOf(options));
  killWithParent(child);
  const { lines, stderr, exited, nextJson } = collectOutput(child);
  const becameReady = nextJson(readyWhen);
  const waiting = new AbortController();
  const late = sleep(readyTimeoutMs, undefined, { signal: waiting.signal }).catch(() => undefined);
  const pid = await toldPid(child, late);
  const { kill, stop } = signals(child, pid, exited);
  const ready = await Promise.race([
    becameReady,
    exited.then(({ code, signal }) => `ended with ${signal ?? code} before it was ready`),
    late.then(() => `was not ready after ${readyTimeoutMs} ms`),
  ]);
  waiting.abort();
  if (typeof ready === 'string') {
    await stop(0);
    throw new Error([`${name} ${ready}:`, ...lines.slice(-20), ...stderr.slice(-20)].join('\n'));
  }
  const freeze = () => kill('SIGSTOP');
  const thaw = () => kill('SIGCONT');
  return { name, pid, lines, stderr, ready, exited, kill, stop, freeze, thaw };
}

/** Node's arguments for the entry. */
async function programOf({ entry, runs = 'bundle' }: ProcessOptions): Promise<string[]> {
  if (entry.endsWith('.cjs')) return [entry];
  if (runs === 'bundle') return [await bundleEntry(entry)];
  return ['--conditions=parley-source', '--import', 'tsx', entry];
}

function spawnNode({ env = {}, nodeArgs = [], wrap = [] }: ProcessOptions, program: string[]): ChildProcess {
  const node = [process.execPath, ...nodeArgs, ...program];
  const [command = 'sh', ...args] = [...wrap, ...TELL_PID, ...node];
  const { PATH = '', HOME = '' } = process.env;
  return spawn(command, args, {
    cwd: ROOT,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
}

/** The pid that node will have; the wrapper's when that has not got so far as to start node. */
async function toldPid(child: ChildProcess, late: Promise<void>): Promise<number> {
  const pipe = child.stdio[3];
  if (!(pipe instanceof Readable)) return child.pid ?? 0;
  const reported = await Promise.race([once(pipe, 'data'), once(pipe, 'close'), late]).catch(() => undefined);
  pipe.destroy();
  return Number.parseInt(String(reported?.[0]), 10) || (child.pid ?? 0);
}

function signals(
  child: ChildProcess,
  pid: number,
  exited: Promise<Exit>,
): Pick<ManagedProcess, 'kill' | 'stop'> {
  const kill = (signal: NodeJS.Signals) => {
    // A pid of a child that ended may already be a stranger's.
    if (pid === 0 || child.exitCode !== null || child.signalCode !== null) return;
    try {
      process.kill(pid, signal);
    } catch {
      // Gone, though its wrapper is not.
    }
  };
  if (pid !== child.pid) killWithParent(child, pid);
  const stop = async (graceMs = 5_000) => {
    kill('SIGTERM');
    kill('SIGCONT');
    const grace = new AbortController();
    const force = async () => {
      await sleep(graceMs, undefined, { signal: grace.signal });
      kill('SIGKILL');
    };
    force().catch(() => undefined);
    const exit = await exited;
    grace.abort();
    return exit;
  };
  return { kill, stop };
}
