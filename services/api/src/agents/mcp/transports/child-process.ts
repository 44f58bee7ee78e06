/**
 * Starts and ends programs so that nothing they started survives them. Finding their processes is in `process-table.ts`,
 * protocols are in the transports.
 */

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { within } from '@parley/shared/async/time-limit';
import { MARK, startedBy, stillRunning } from './process-table.ts';

/** A program that communicates over its standard streams. */
export interface Program {
  /** An absolute path, or a name to look up in the `PATH` of `env`. */
  readonly command: string;
  readonly args?: readonly string[];
  /** The complete environment of the process. Nothing is inherited, not even `PATH`. */
  readonly env?: Readonly<Record<string, string>>;
  /** The working directory. @default that of this process */
  readonly cwd?: string;
}

export type Child = ChildProcessByStdio<Writable, Readable, Readable> & {
  /** The value of the variable that marks the program and all processes that it starts. */
  readonly mark: string;
};

/** The prefix of the marks of all programs that this process starts. */
export const MARKS_OF_POD = randomUUID();

const ROUNDS_MAX = 10;
let programs = 0;

/**
 * Starts a program with exactly this environment, plus a variable that marks it. Rejects if it cannot be started. Processes
 * that the program starts end with it, even in other groups and sessions. Without `/proc`, only processes in its group do.
 */
export async function spawnChild({ command, args = [], env = {}, cwd }: Program): Promise<Child> {
  programs += 1;
  const mark = `${MARKS_OF_POD}.${programs}`;
  // The child leads a process group, so that most of its own children end with it.
  const spawned = spawn(command, [...args], {
    env: { ...env, [MARK]: mark },
    ...(cwd !== undefined && { cwd }),
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const child: Child = Object.assign(spawned, { mark });
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => {
      child.off('error', reject);
      child.on('error', () => undefined);
      resolve();
    });
  });
  child.once('exit', () => {
    killGroup(child);
    void killStarted(child.mark);
  });
  return child;
}

/**
 * Closes the input, then sends SIGTERM, then SIGKILL. Resolves when the process has exited and the processes that it started
 * have been killed.
 */
export async function endChild(child: Child, graceMs: number): Promise<void> {
  // The started processes are listed before the exit, because afterwards they no longer descend from it, and the id may belong
  // to another process.
  const isRunning = child.exitCode === null && child.signalCode === null;
  const before = await startedBy(isRunning ? child.pid : undefined, child.mark);
  await endAlone(child, graceMs);
  for (const { pid } of await stillRunning(before)) kill(pid);
  await killStarted(child.mark);
}

async function endAlone(child: Child, graceMs: number): Promise<void> {
  const exited = new Promise<true>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve(true);
    else child.once('exit', () => resolve(true));
  });
  child.stdin.end();
  if (await within(graceMs, exited)) return;
  child.kill('SIGTERM');
  if (await within(graceMs, exited)) return;
  killGroup(child);
  await exited;
}

/** Kills what has this mark until there is nothing more: a process may start another one while it is looked for. */
async function killStarted(mark: string): Promise<void> {
  for (let rounds = 0; rounds < ROUNDS_MAX; rounds += 1) {
    const found = await startedBy(undefined, mark);
    if (found.length === 0) return;
    for (const each of found) kill(each.pid);
  }
}

function killGroup({ pid }: Child): void {
  if (pid !== undefined) kill(-pid);
}

function kill(target: number): void {
  try {
    process.kill(target, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}
