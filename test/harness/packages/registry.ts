import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  type PackedPackage,
  type PublishedManifest,
  ROOT,
  readManifests,
  run,
} from '../../../infra/release/packages.ts';
import { toolScript } from '../../../infra/release/tools.ts';
import { freePort } from '../free-port.ts';
import { isFullSize } from '../proof-size.ts';
import { waitUntil } from '../wait-until.ts';
import { startCommand } from './start-command.ts';

/** A registry on this machine alone, with the packages of this repository and, behind it, those of others. */
export interface LocalRegistry {
  readonly url: string;
  stop(): Promise<void>;
}

/** Packages of others are kept here, so that a later run needs no network. */
const STORAGE = join(ROOT, '.tmp/registry');

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
  for (const manifest of await readManifests(ROOT)) {
    const tarball = packed.find(({ name }) => name === manifest.name)?.tarball;
    if (isFullSize) await publishByNpm(folder, url, tarball ?? '');
    else await publish(url, manifest, tarball ?? '');
  }
  return { url, stop: server.stop };
}

async function publishByNpm(folder: string, url: string, tarball: string): Promise<void> {
  // npm publishes to nobody who has no token; this registry asks for none.
  const token = `--//${new URL(url).host}/:_authToken=none`;
  const options = [`--registry=${url}`, token, `--cache=${join(folder, 'npm-cache')}`, '--ignore-scripts'];
  await run('npm', ['publish', tarball, ...options], { cwd: folder });
}

/** Sends what `npm publish` sends, which takes a program of npm three seconds of processor time for each package. */
async function publish(url: string, manifest: PublishedManifest, tarball: string): Promise<void> {
  const { name, version } = manifest;
  const bytes = await readFile(tarball);
  const file = `${name}-${version}.tgz`;
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  const shasum = createHash('sha1').update(bytes).digest('hex');
  const dist = { integrity, shasum, tarball: `${url}${name}/-/${basename(file)}` };
  const reply = await fetch(url + encodeURIComponent(name), {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      _id: name,
      name,
      'dist-tags': { latest: version },
      versions: { [version]: { ...manifest, _id: `${name}@${version}`, dist } },
      _attachments: {
        [file]: {
          content_type: 'application/octet-stream',
          data: bytes.toString('base64'),
          length: bytes.length,
        },
      },
    }),
  });
  if (!reply.ok) throw new Error(`The registry refused ${name}: ${reply.status} ${await reply.text()}`);
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
