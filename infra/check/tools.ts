import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** What a finished command left behind; `code` is null when it was killed. */
export type Finished = { readonly code: number | null; readonly output: string };

export type RunOptions = {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Milliseconds until the command is killed; default 60,000. */
  readonly timeout?: number;
};

/** The full path of a program, also from the system directories that a plain user's PATH leaves out. */
export function findProgram(name: string): string | undefined {
  const directories = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin', '/sbin'];
  return directories
    .filter((directory) => directory !== '')
    .map((directory) => join(directory, name))
    .find((candidate) => isExecutable(candidate));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Starts a command and collects what it prints. The caller ends it. */
export function start(
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): { readonly child: ChildProcess; readonly output: () => string; readonly finished: Promise<Finished> } {
  const child = spawn(program, [...args], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const take = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  const finished = new Promise<Finished>((resolve) => {
    child.once('error', (error) => resolve({ code: null, output: `${output}${error.message}` }));
    child.once('close', (code) => resolve({ code, output }));
  });
  return { child, output: () => output, finished };
}

/** Runs a command to its end, or kills it after `timeout`. Never rejects. */
export async function run(
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Finished> {
  const { child, finished } = start(program, args, options);
  const timer = setTimeout(() => child.kill('SIGKILL'), options.timeout ?? 60_000);
  const result = await finished;
  clearTimeout(timer);
  return result;
}

/** Polls until `probe` is true; false when `timeout` milliseconds passed first. */
export async function until(probe: () => Promise<boolean> | boolean, timeout: number): Promise<boolean> {
  const end = Date.now() + timeout;
  while (Date.now() < end) {
    if (await probe()) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

/** A loopback port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return address.port;
}

/** Runs `work` with a new empty directory and removes it afterwards, whatever happened. */
export async function withDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'parley-infra-'));
  try {
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The last lines of a command's output, for a report of one line. */
export function lastLines(output: string, count = 3): string {
  return output
    .trim()
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-count)
    .join(' | ');
}
