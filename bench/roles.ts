import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Order, Told } from './peers.ts';

/** A process of the bench that takes orders. */
export interface Role {
  readonly pid: number;
  send(order: Order): void;
  /** The next word of this kind. */
  hear<Kind extends Told['told']>(kind: Kind): Promise<Extract<Told, { told: Kind }>>;
  kill(): Promise<void>;
}

/** Starts a role in a process of its own and waits until it listens. */
export async function startRole(redisUrl: string): Promise<Role> {
  const child: ChildProcess = fork(fileURLToPath(new URL('./roles/role.ts', import.meta.url)), [redisUrl], {
    execArgv: ['--import', 'tsx', '--expose-gc'],
  });
  const heard: Told[] = [];
  const listeners = new Set<() => void>();
  child.on('message', (told: Told) => {
    heard.push(told);
    for (const listener of listeners) listener();
  });
  const role: Role = {
    pid: child.pid ?? 0,
    send: (order) => child.send(order),
    async hear(kind) {
      for (;;) {
        const at = heard.findIndex(({ told }) => told === kind);
        const [told] = at < 0 ? [] : heard.splice(at, 1);
        if (told !== undefined) return told as Extract<Told, { told: typeof kind }>;
        await new Promise<void>((resolve, reject) => {
          const listener = () => {
            listeners.delete(listener);
            child.off('exit', gone);
            resolve();
          };
          const gone = () => reject(new Error(`A bench process ended while ${kind} was awaited.`));
          listeners.add(listener);
          child.once('exit', gone);
        });
      }
    },
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
  await role.hear('ready');
  return role;
}
