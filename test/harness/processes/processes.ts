import { join } from 'node:path';
import { type ManagedProcess, type ProcessOptions, startProcess } from './start-process.ts';

export { type ManagedProcess, type ProcessOptions, startProcess } from './start-process.ts';

/** What a pod or worker may be given in addition to its environment. */
export type StartOptions = Partial<
  Pick<ProcessOptions, 'name' | 'nodeArgs' | 'wrap' | 'readyTimeoutMs' | 'runs'>
> & {
  /** The tree to run, relative to the repository's root; by default the repository itself. */
  readonly root?: string;
};

/** A running api. */
export type Pod = ManagedProcess & { port: number; url: string };

/** Starts `services/api` on a free port, without a metrics port unless `env` says otherwise; resolves when it listens. */
export async function startPod(env: Record<string, string> = {}, options: StartOptions = {}): Promise<Pod> {
  const pod = await startProcess({
    name: 'pod',
    entry: entryOf('api', options),
    env: { PORT: '0', PARLEY_METRICS_PORT: '0', ...env },
    readyWhen: (line) => 'listening' in line && typeof line.port === 'number',
    ...options,
  });
  const port = Number(pod.ready.port);
  return { ...pod, port, url: `http://127.0.0.1:${port}` };
}

/** Starts `services/worker`, without a metrics port unless `env` says otherwise; resolves when it takes jobs. */
export function startWorker(
  env: Record<string, string> = {},
  options: StartOptions = {},
): Promise<ManagedProcess> {
  return startProcess({
    name: 'worker',
    entry: entryOf('worker', options),
    env: { PORT: '0', PARLEY_METRICS_PORT: '0', ...env },
    readyWhen: (line) => line.ready === true,
    ...options,
  });
}

function entryOf(service: 'api' | 'worker', { root = '.' }: StartOptions): string {
  return join(root, `services/${service}/src/main.ts`);
}
