import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { CliError, EXIT } from '../exit-code.ts';

const FAULT_LINES_MAX = 20;

/** A service that this command runs. */
export interface ServiceProcess {
  readonly port: number;
  /** Resolves with the exit code when the process has ended. */
  readonly ended: Promise<number>;
}

export interface ServiceOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onLog: (line: string) => void;
  /** Stops the service when it is aborted, also before it is ready. */
  readonly signal: AbortSignal;
}

/** Starts the api or the worker of the installed packages, or of this checkout; resolves when it is ready. */
export async function startService(
  service: 'api' | 'worker',
  { env, onLog, signal }: ServiceOptions,
): Promise<ServiceProcess> {
  signal.throwIfAborted();
  const child = spawn(process.execPath, argumentsOf(service), {
    env: env as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl+C reaches this process, which then ends the service in order.
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
  // In a checkout the services lie beside the package that is made of them.
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

/** The api names its port when it listens; the worker says that it is ready. */
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
