import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { aptInstall, onPath } from './on-path.ts';

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
  const { stdout } = await run(binary, ['-f', '+0s', 'env'], { timeout: 10_000 });
  const preload = stdout.split('\n').filter((line) => PRELOADS.some((name) => line.startsWith(`${name}=`)));
  if (preload.length === 0) return undefined;
  const offset = `${offsetSeconds < 0 ? '-' : '+'}${Math.abs(offsetSeconds)}s`;
  return {
    wrap: ['env', ...preload],
    env: { FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: '1' },
  };
}
