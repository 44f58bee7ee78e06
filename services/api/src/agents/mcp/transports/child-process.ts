import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/** A program that talks over its standard streams. */
export interface Program {
  /** An absolute path, or a name to look up in the `PATH` of `env`. */
  readonly command: string;
  readonly args?: readonly string[];
  /** The complete environment of the process. Nothing is inherited, not even `PATH`. */
  readonly env?: Readonly<Record<string, string>>;
  /** The working directory. @default that of this process */
  readonly cwd?: string;
}

export type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/**
 * Starts a program with exactly this environment. Rejects when it cannot be started. The program's own children end with it.
 */
export async function spawnChild({ command, args = [], env = {}, cwd }: Program): Promise<Child> {
  // The child leads a process group, so that its own children end with it.
  const child = spawn(command, [...args], {
    env: { ...env },
    ...(cwd !== undefined && { cwd }),
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => {
      child.off('error', reject);
      child.on('error', () => undefined);
      resolve();
    });
  });
  child.once('exit', () => killGroup(child));
  return child;
}

/** Closes the input, then sends SIGTERM, then SIGKILL. Resolves when the process has exited. */
export async function endChild(child: Child, graceMs: number): Promise<void> {
  const exited = new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once('exit', () => resolve());
  });
  child.stdin.end();
  if (await within(graceMs, exited)) return;
  child.kill('SIGTERM');
  if (await within(graceMs, exited)) return;
  killGroup(child);
  await exited;
}

async function within(ms: number, work: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

function killGroup({ pid }: Child): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has already ended.
  }
}
