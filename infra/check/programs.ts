import { execFile } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Check, judge, type Verdict } from './verdict.ts';

/** How a command ended; `code` is null when it was killed or could not start. */
export type Finished = { readonly code: number | null; readonly output: string };

/** The full path of a program. Also searches the system folders that are not in an ordinary user's PATH. */
export function findProgram(name: string): string | undefined {
  const directories = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin', '/sbin'];
  return directories
    .filter((directory) => directory !== '')
    .map((directory) => join(directory, name))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Runs a command to its end, or kills it after `timeoutMs`. Never rejects; `output` is stdout, then stderr. */
export function runProgram(
  program: string,
  args: readonly string[],
  { cwd, timeoutMs = 60_000 }: { readonly cwd?: string; readonly timeoutMs?: number } = {},
): Promise<Finished> {
  const options = { ...(cwd !== undefined && { cwd }), timeout: timeoutMs, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    const child = execFile(program, [...args], options, (error, stdout, stderr) => {
      const failure = error !== null && child.exitCode === null ? error.message : '';
      resolve({ code: child.exitCode, output: `${stdout}${stderr}${failure}` });
    });
  });
}

/** The verdict of a check whose program is not installed. Debian's kubectl is too old for the kustomization. */
export function missingProgram(program: string): Verdict {
  return { status: 'not run', why: `${program} is not installed`, available: program !== 'kubectl' };
}

/**
 * A check that passes if the program exits with 0. `args` gets the root of the tree and a folder that exists while the program
 * runs, and returns the program's arguments.
 */
export function programCheck(
  name: string,
  program: string,
  args: (root: string, scratch: string) => readonly string[],
): Check {
  const run: Check['run'] = async (root) => {
    const path = findProgram(program);
    if (path === undefined) return missingProgram(program);
    return withDirectory(async (scratch) => {
      const { code, output } = await runProgram(path, args(root, scratch), { cwd: root });
      return judge(code === 0 ? [] : [lastLines(output)]);
    });
  };
  return { name, run };
}

/** Runs `work` with a new empty directory and removes the directory afterwards. */
export async function withDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'parley-infra-'));
  try {
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The last six lines of a command's output, as one line. */
export function lastLines(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(-6).join(' | ');
}
