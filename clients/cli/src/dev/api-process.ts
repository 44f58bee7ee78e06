/**
 * Starts the api and the worker as child processes and waits until they are ready. Their settings come from `commands/dev.ts`.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { CliError, EXIT } from '../exit-code.ts';

const FAULT_LINES_MAX = 20;

/** A service that this command started. */
export interface ServiceProcess {
  readonly port: number;
  /** Resolves with the exit code when the process has ended. */
  readonly ended: Promise<number>;
}

export interface ServiceOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onLog: (line: string) => void;
  /** Stops the service when aborted, even before it is ready. */
  readonly signal: AbortSignal;
}

/** Starts the api or the worker, from the installed packages or from this checkout. Resolves when it is ready. */
export async function startService(
  service: 'api' | 'worker',
  { env, onLog, signal }: ServiceOptions,
): Promise<ServiceProcess> {
  signal.throwIfAborted();
  const child = spawn(process.execPath, argumentsOf(service), {
    env: env as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A detached child does not get Ctrl+C itself; this process gets it and ends the services in order.
    detached: true,
  });
  const stop = () => void child.kill('SIGTERM');
  signal.addEventListener('abort', stop, { once: true });
  const ended = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? EXIT.failed)));
  const port = await untilReady(child, ended, onLog);
  return { port, ended };
}

function argumentsOf(service: 'api' | 'worker'): string[] {
  const { resolve } = createRequire(import.meta.url);
  let folder: string;
  try {
    folder = dirname(resolve('@parley/server/package.json'));
  } catch {
    throw new CliError(
      EXIT.failed,
      'no_service',
      'The package @parley/server is not installed beside this one.',
    );
  }
  // In a checkout, the services are next to the package that contains their builds.
  const source = join(folder, '..', service, 'src/main.ts');
  if (!existsSync(source)) return [join(folder, 'dist', service, 'main.cjs')];
  return ['--conditions=parley-source', '--import', resolve('tsx'), source];
}

async function untilReady(
  { stdout, stderr }: ChildProcess,
  ended: Promise<number>,
  onLog: (line: string) => void,
): Promise<number> {
  if (stdout === null || stderr === null) throw new Error('The service has no output.');
  const faults: string[] = [];
  createInterface({ input: stderr }).on('line', (line) => {
    if (faults.length < FAULT_LINES_MAX) faults.push(line);
    onLog(line);
  });
  const lines = createInterface({ input: stdout });
  const ready = new Promise<number>((resolve) => {
    lines.on('line', (line) => {
      const port = portOfLine(line);
      if (port === undefined) onLog(line);
      else resolve(port);
    });
  });
  const early = ended.then((code) => {
    throw new CliError(
      EXIT.failed,
      'not_started',
      [`The service ended with the code ${code} before it was ready.`, ...faults].join('\n'),
    );
  });
  return Promise.race([ready, early]);
}

/** The port in a line of output. The api reports its port when it listens; the worker only reports that it is ready. */
function portOfLine(line: string): number | undefined {
  try {
    const {
      listening,
      ready,
      port = 0,
    } = JSON.parse(line) as { listening?: boolean; ready?: boolean; port?: number };
    return listening === true || ready === true ? port : undefined;
  } catch {
    return undefined;
  }
}
