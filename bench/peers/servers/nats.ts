import { join } from 'node:path';
import { freePort } from '../../../test/harness/free-port.ts';
import { createFolder, findOrInstall, type PeerServer, startServer } from './start-server.ts';

/** NATS with JetStream in files, with its default settings. */
export async function startNats(
  progress: (text: string) => void,
): Promise<PeerServer & { readonly url: string }> {
  const program = await findOrInstall('nats-server', 'nats-server', progress);
  const folder = await createFolder('nats');
  const port = await freePort();
  const args = ['--addr', '127.0.0.1', '--port', String(port), '--jetstream'];
  const server = await startServer({
    program,
    args: [...args, '--store_dir', join(folder, 'data')],
    folder,
    port,
  });
  return { ...server, url: `nats://127.0.0.1:${port}` };
}
