import { execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { findProgram } from '../../../infra/check/programs.ts';
import { killWithParent } from '../processes/child-guard.ts';

const ROOT = new URL('../../../', import.meta.url);
/** The folder from which Python imports the client. */
export const PYTHON_SOURCES = fileURLToPath(new URL('clients/python/src', ROOT));
const BRIDGE = fileURLToPath(new URL('bridge.py', import.meta.url));
/** The oldest Python that the client supports. */
const OLDEST = [3, 10] as const;

/** How a call of the Python client ended. */
export interface PythonReply<Value> {
  readonly value?: Value;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly status?: number | null;
    readonly retry_after_seconds?: number | null;
    readonly problem?: Readonly<Record<string, unknown>>;
  };
}

interface PythonCall {
  readonly client?: 'sync' | 'async';
  /** The address of another Parley than the one for which the process was started. */
  readonly baseUrl?: string;
  readonly token?: string;
  readonly args?: readonly unknown[];
  readonly kwargs?: Readonly<Record<string, unknown>>;
}

/** A Python process that makes the calls of the client. */
export interface Python {
  call<Value = unknown>(name: string, call?: PythonCall): Promise<PythonReply<Value>>;
  /** Begins a call; `cancel` cancels the task of an asynchronous one. */
  begin<Value = unknown>(
    name: string,
    call: PythonCall,
  ): { readonly reply: Promise<PythonReply<Value>>; cancel(): void };
  /** SIGKILL. */
  kill(): void;
}

/** Starts the client for the Parley at this URL; settings of its retries are in seconds. */
export function startPython(baseUrl: string, retry: Readonly<Record<string, number>> = {}): Python {
  const program = findProgram('python3') ?? 'python3';
  const child = spawn(program, [BRIDGE, baseUrl, JSON.stringify(retry)], {
    env: {
      ...process.env,
      PYTHONPATH: PYTHON_SOURCES,
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONWARNINGS: 'error',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  killWithParent(child);
  const open = new Map<number, (reply: PythonReply<never>) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, ...reply } = JSON.parse(line) as { readonly id: number } & PythonReply<never>;
    open.get(id)?.(reply);
    open.delete(id);
  });
  // A test that waits for a process that has ended must not wait for its time limit.
  child.on('exit', (code) => {
    for (const end of open.values())
      end({ error: { code: 'exited', message: `python3 ended with ${code}` } });
  });
  let calls = 0;
  const send = (name: string, call: PythonCall) => {
    calls += 1;
    const command = { id: calls, call: name, client: 'sync', args: [], kwargs: {}, ...call };
    child.stdin.write(`${JSON.stringify(command)}\n`);
    return calls;
  };
  const begin: Python['begin'] = (name, call) => {
    const id = send(name, call);
    const reply = new Promise<PythonReply<never>>((resolve) => open.set(id, resolve));
    return { reply, cancel: () => void send('cancel', { client: 'async', args: [id] }) };
  };
  return {
    begin,
    call: (name, call = {}) => begin<never>(name, call).reply,
    kill: () => void child.kill('SIGKILL'),
  };
}

/** Why the client cannot run here; undefined where it can. */
export async function pythonNotRun(): Promise<string | undefined> {
  const program = findProgram('python3');
  if (program === undefined) return 'there is no python3';
  const version = await new Promise<string>((resolve) => {
    execFile(program, ['-c', 'import sys; print(*sys.version_info[:2])'], (_, stdout) => resolve(stdout));
  });
  const [major = 0, minor = 0] = version.trim().split(' ').map(Number);
  const isRecent = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
  return isRecent ? undefined : `python3 is ${major}.${minor}; the client needs ${OLDEST.join('.')}`;
}
