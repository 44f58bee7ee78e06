import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../../test/harness/free-port.ts';
import { waitUntil } from '../../../test/harness/wait-until.ts';
import { createFolder, type PeerServer, startServer } from './start-server.ts';

export interface RestateUrls {
  readonly ingress: string;
  readonly admin: string;
}

/** Restate on one node, with its default settings. `url` is the JSON of its `RestateUrls`. */
export async function startRestate(): Promise<PeerServer & { readonly url: string }> {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  const program = fileURLToPath(new URL(`../node_modules/${name}/bin/restate-server`, import.meta.url));
  if (!existsSync(program)) throw new Error(`there is no ${name} package`);
  const folder = await createFolder('restate');
  const [node, ingressPort, adminPort] = [await freePort(), await freePort(), await freePort()];
  const args = ['--no-logo', '--listen-mode', 'tcp', '--bind-ip', '127.0.0.1', '--bind-port', String(node)];
  const server = await startServer({
    program,
    args: [...args, '--base-dir', join(folder, 'data')],
    folder,
    port: adminPort,
    env: {
      RESTATE_DISABLE_TELEMETRY: 'true',
      RESTATE_ADVERTISED_HOST: '127.0.0.1',
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingressPort}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${adminPort}`,
    },
  });
  const urls = { ingress: `http://127.0.0.1:${ingressPort}`, admin: `http://127.0.0.1:${adminPort}` };
  const isHealthy = async (url: string) => (await fetch(url)).ok;
  try {
    await waitUntil(() => isHealthy(`${urls.admin}/health`), { what: 'the admin API of Restate' });
    await waitUntil(() => isHealthy(`${urls.ingress}/restate/health`), { what: 'the ingress of Restate' });
  } catch (error) {
    await server.stop();
    throw error;
  }
  return { ...server, url: JSON.stringify(urls) };
}
