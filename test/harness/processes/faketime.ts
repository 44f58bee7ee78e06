import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { aptInstall, onPath } from '../on-path.ts';
import { paced } from '../pace.ts';

const run = promisify(execFile);
const PRELOADS = ['LD_PRELOAD', 'DYLD_INSERT_LIBRARIES', 'DYLD_FORCE_FLAT_NAMESPACE'];

/** For `startProcess`: `wrap` and `env` make one process see a wrong time. */
export type FakeTime = { wrap: string[]; env: Record<string, string> };

/**
 * How to run a process whose wall clock is off by `offsetSeconds` (either sign) and whose monotonic clock is right.
 * Finds `faketime` on the PATH, else installs it with apt-get when root; undefined when there is none.
 *
 * The command `faketime` itself is only asked for its library: it forks, reports a signal as exit code 1, and lets
 * all its children share one clock. `wrap` is an `env` that becomes node.
 */
export async function fakeTime(offsetSeconds: number): Promise<FakeTime | undefined> {
  const preload = await findPreload();
  if (preload === undefined) return undefined;
  const offset = `${offsetSeconds < 0 ? '-' : '+'}${Math.abs(offsetSeconds)}s`;
  return {
    wrap: ['env', ...preload],
    env: { FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: '1' },
  };
}

/**
 * How to run processes, `redisServer` among them, whose clocks, wall and monotonic, follow the offset that `file` contains
 * at any time; or why that cannot be. libc comes second: it then allocates in place of the jemalloc of Debian's Redis, which
 * reads the clock before the library of faketime is ready. A server with a jemalloc of its own hangs at its start.
 */
export async function leapingTime(file: string, redisServer: string): Promise<FakeTime | { notRun: string }> {
  const preload = await findPreload();
  if (preload === undefined) return { notRun: 'there is no faketime' };
  // The state of a process, and when all of them sleep, is read there.
  if (!existsSync('/proc/self/stat')) return { notRun: 'there is no /proc' };
  const wrap = [
    'env',
    ...preload.map((line) => (line.startsWith('LD_PRELOAD=') ? `${line} libc.so.6` : line)),
  ];
  const env = { FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1' };
  const [command = '', ...args] = [...wrap, redisServer, '--version'];
  try {
    await run(command, args, {
      env: { ...process.env, ...env },
      timeout: paced(10_000),
      killSignal: 'SIGKILL',
    });
    return { wrap, env };
  } catch {
    return { notRun: `${redisServer} does not start under faketime` };
  }
}

async function findPreload(): Promise<string[] | undefined> {
  const binary =
    onPath('faketime') ?? ((await aptInstall('faketime')) === undefined ? onPath('faketime') : undefined);
  if (!binary) return undefined;
  const stdout = await environmentOf(binary);
  const preload = stdout.split('\n').filter((line) => PRELOADS.some((name) => line.startsWith(`${name}=`)));
  return preload.length === 0 ? undefined : preload;
}

const TRIES = 5;

/**
 * What `faketime` makes of the environment, with the library for programs of several threads: with the other one, threads
 * that read the clock at the same moment may see it far off for an instant, and limits of time end. It names its shared memory
 * after its pid and leaves it behind, so a later one may meet what was left under the same pid; its next attempt has another.
 */
async function environmentOf(binary: string): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const running = run(binary, ['-m', '-f', '+0s', 'env'], { timeout: 10_000 });
    const { pid } = running.child;
    try {
      return (await running).stdout;
    } catch (error) {
      if (attempt === TRIES || !String(error).includes('File exists')) throw error;
    } finally {
      await removeShared(pid);
    }
  }
}

/** Removes the shared memory that a process under faketime leaves behind when it, or the command itself, is killed. */
export async function removeShared(pid: number | undefined): Promise<void> {
  const names = [`faketime_shm_${pid}`, `sem.faketime_sem_${pid}`];
  await Promise.all(names.map((name) => rm(`/dev/shm/${name}`, { force: true })));
}
