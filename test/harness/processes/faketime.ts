import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { aptInstall, onPath } from '../on-path.ts';

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
  const binary =
    onPath('faketime') ?? ((await aptInstall('faketime')) === undefined ? onPath('faketime') : undefined);
  if (!binary) return undefined;
  const stdout = await environmentOf(binary);
  const preload = stdout.split('\n').filter((line) => PRELOADS.some((name) => line.startsWith(`${name}=`)));
  if (preload.length === 0) return undefined;
  const offset = `${offsetSeconds < 0 ? '-' : '+'}${Math.abs(offsetSeconds)}s`;
  return {
    wrap: ['env', ...preload],
    env: { FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: '1' },
  };
}

const TRIES = 5;

/**
 * What `faketime` makes of the environment. It names its shared memory after its pid and leaves it behind, so a later
 * one may meet what was left under the same pid; its next attempt has another.
 */
async function environmentOf(binary: string): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const running = run(binary, ['-f', '+0s', 'env'], { timeout: 10_000 });
    const { pid } = running.child;
    try {
      return (await running).stdout;
    } catch (error) {
      if (attempt === TRIES || !String(error).includes('File exists')) throw error;
    } finally {
      const names = [`faketime_shm_${pid}`, `sem.faketime_sem_${pid}`];
      await Promise.all(names.map((name) => rm(`/dev/shm/${name}`, { force: true })));
    }
  }
}
