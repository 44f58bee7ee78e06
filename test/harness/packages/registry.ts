import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type PackedPackage, ROOT, run } from '../../../infra/release/packages.ts';
import { toolScript } from '../../../infra/release/tools.ts';
import { freePort } from '../free-port.ts';
import { waitUntil } from '../wait-until.ts';
import { startCommand } from './start-command.ts';

/** A registry on this machine alone, with the packages of this repository and, behind it, those of others. */
export interface LocalRegistry {
  readonly url: string;
  stop(): Promise<void>;
}

/** Packages of others are kept here, so that a later run needs no network. */
const STORAGE = join(ROOT, '.tmp/registry');
const ANY_TOKEN = 'verdaccio-takes-anybody';

/** Starts Verdaccio in `folder` and publishes the tarballs there. */
export async function startRegistry(
  folder: string,
  packed: readonly PackedPackage[],
): Promise<LocalRegistry> {
  const port = await freePort();
  const upstream = (await run('npm', ['config', 'get', 'registry'], { cwd: ROOT })).trim();
  await rm(join(STORAGE, '@parley'), { recursive: true, force: true });
  await mkdir(STORAGE, { recursive: true });
  const config = join(folder, 'verdaccio.json');
  await writeFile(config, JSON.stringify(configOf(upstream)));
  const url = `http://127.0.0.1:${port}/`;
  const server = startCommand(process.execPath, [
    toolScript('verdaccio'),
    '--config',
    config,
    '--listen',
    url,
  ]);
  await waitUntil(async () => (await fetch(`${url}-/ping`)).ok, { what: 'an answer of the registry' });
  const registry = [`--registry=${url}`, `--//127.0.0.1:${port}/:_authToken=${ANY_TOKEN}`];
  const cache = `--cache=${join(folder, 'npm-cache')}`;
  for (const { tarball } of packed)
    await run('npm', ['publish', tarball, ...registry, cache, '--ignore-scripts'], { cwd: folder });
  return { url, stop: server.stop };
}

function configOf(upstream: string): object {
  const anybody = { access: '$all', publish: '$all', unpublish: '$all' };
  return {
    storage: STORAGE,
    uplinks: { upstream: { url: upstream, maxage: '7d', timeout: '60s' } },
    packages: { '@parley/*': anybody, '**': { access: '$all', proxy: 'upstream' } },
    auth: { htpasswd: { file: './htpasswd', max_users: -1 } },
    web: { enable: false },
    log: { type: 'stdout', format: 'json', level: 'warn' },
    max_body_size: '100mb',
  };
}
