import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Order, Reply } from './messages.ts';

/** A process of the bench that takes orders. */
export interface BenchChild {
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
  const child: ChildProcess = fork(fileURLToPath(new URL('./child.ts', import.meta.url)), args, {
    execArgv: [...process.execArgv, '--expose-gc'],
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
