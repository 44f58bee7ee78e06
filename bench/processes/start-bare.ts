import { type ManagedProcess, startProcess } from '../../test/harness/processes/start-process.ts';
import { HTTP_ENV } from '../pod/http-client.ts';

/** Starts a bare server of the bench, which prints its port; `entry` lies beside this file. */
export async function startBare(
  entry: 'reference' | 'bare-streams',
  redisUrl: string,
  nodeArgs: readonly string[] = [],
): Promise<ManagedProcess & { readonly url: string }> {
  const started = await startProcess({
    name: entry,
    entry: `bench/processes/${entry}.ts`,
    env: { ...HTTP_ENV, REDIS_URL: redisUrl },
    nodeArgs,
    readyWhen: (line) => 'listening' in line,
  });
  return { ...started, url: `http://127.0.0.1:${String(started.ready.port)}` };
}
