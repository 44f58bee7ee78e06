import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { bundleEntry } from '../../test/harness/processes/bundle.ts';
import type { Order, Reply } from './messages.ts';

/** A process of the bench that takes orders. */
export interface BenchChild {
  readonly pid: number;
  send(order: Order): void;
  /** The next reply of this type; rejects when the process ends first. */
  receive<Type extends Reply['type']>(type: Type): Promise<Extract<Reply, { type: Type }>>;
  kill(): Promise<void>;
}

/**
 * Starts a process with an engine of its own and waits until it takes orders. `address` is the URL of Redis, or that of
 * the server of a peer, whose contender is then in the file `peerModule`.
 */
export async function startChild(address: string, peerModule?: URL): Promise<BenchChild> {
  const args = peerModule === undefined ? [address] : [address, peerModule.href];
  const { program, execArgv } = await findProgram(peerModule !== undefined);
  const child: ChildProcess = fork(program, args, {
    execArgv: [...execArgv, '--expose-gc'],
    // What libraries print is no part of the report.
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  const received: Reply[] = [];
  const listeners = new Set<() => void>();
  child.on('message', (reply: Reply) => {
    received.push(reply);
    for (const listener of listeners) listener();
  });
  const started: BenchChild = {
    pid: child.pid ?? 0,
    send: (order) => child.send(order),
    async receive(type) {
      for (;;) {
        const index = received.findIndex((reply) => reply.type === type);
        const [reply] = index < 0 ? [] : received.splice(index, 1);
        if (reply !== undefined) return reply as Extract<Reply, { type: typeof type }>;
        await nextReply(child, listeners, type);
      }
    },
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
  await started.receive('ready');
  return started;
}

interface Program {
  readonly program: string;
  readonly execArgv: readonly string[];
}

/** As this process runs: what `npm run build` wrote, or the sources, which start faster from a bundle. */
async function findProgram(withPeer: boolean): Promise<Program> {
  // A bundle cannot import the module of a peer.
  if (!withPeer && process.execArgv.includes('--conditions=parley-source'))
    return { program: await bundleEntry('bench/processes/child.ts'), execArgv: [] };
  return { program: fileURLToPath(new URL('./child.ts', import.meta.url)), execArgv: process.execArgv };
}

async function nextReply(child: ChildProcess, listeners: Set<() => void>, type: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const onExit = () => reject(new Error(`A bench process ended before it sent "${type}".`));
    const listener = () => {
      listeners.delete(listener);
      child.off('exit', onExit);
      resolve();
    };
    listeners.add(listener);
    child.once('exit', onExit);
  });
}
