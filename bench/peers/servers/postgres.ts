import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../../../infra/check/programs.ts';
import { freePort } from '../../../test/harness/free-port.ts';
import { accountOf, createFolder, findOrInstall, type PeerServer, startServer } from './start-server.ts';

// Debian keeps the servers of all versions beside each other and off the PATH.
const DEBIAN = '/usr/lib/postgresql';

/** Postgres with its default settings: every commit waits for fsync. `url` names its database `postgres`. */
export async function startPostgres(
  progress: (text: string) => void,
): Promise<PeerServer & { readonly url: string }> {
  const initdb = await findOrInstall('initdb', 'postgresql', progress, findInitdb);
  const account = await accountOf('postgres');
  const folder = await createFolder('postgres', account);
  const data = join(folder, 'data');
  await promisify(execFile)(initdb, ['-D', data, '-U', 'bench', '--auth=trust', '--no-sync'], {
    cwd: folder,
    ...account,
  });
  const port = await freePort();
  const args = ['-D', data, '-p', String(port), '-k', folder, '-c', 'listen_addresses=127.0.0.1'];
  const program = join(initdb, '..', 'postgres');
  const server = await startServer({ program, args, folder, port, account });
  return { ...server, url: `postgres://bench@127.0.0.1:${port}/postgres` };
}

function findInitdb(): string | undefined {
  const found = findProgram('initdb');
  if (found !== undefined) return found;
  if (!existsSync(DEBIAN)) return undefined;
  return readdirSync(DEBIAN)
    .sort((left, right) => Number(right) - Number(left))
    .map((version) => join(DEBIAN, version, 'bin', 'initdb'))
    .find((program) => existsSync(program));
}
