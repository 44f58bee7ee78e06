import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Finished, findProgram, lastLines, runProgram } from '../check/programs.ts';

/** Runs buildah with its own store, so that the stand-in never mixes with real images. Takes at most five minutes. */
export type Buildah = (args: readonly string[], timeoutMs?: number) => Promise<Finished>;

/**
 * Makes an image with the name of the official Node image from a minimal Debian and this machine's Node and npm. Returns the
 * fault, or undefined if the image exists.
 */
export async function standInBase(buildah: Buildah, directory: string): Promise<string | undefined> {
  const rootfs = join(directory, 'rootfs');
  const debian = await runProgram(
    'debootstrap',
    ['--variant=minbase', '--include=ca-certificates', 'bookworm', rootfs],
    { timeoutMs: 600_000 },
  );
  if (debian.code !== 0) return lastLines(debian.output);
  const fault = addNode(rootfs);
  if (fault !== undefined) return fault;
  const settings = trustThisMachine(rootfs);
  const major = process.versions.node.split('.')[0];
  const steps = [
    ['from', '--name', 'stand-in', 'scratch'],
    ['add', 'stand-in', rootfs, '/'],
    ['config', ...settings.flatMap((setting) => ['--env', setting]), 'stand-in'],
    ['commit', '--rm', 'stand-in', `docker.io/library/node:${major}-bookworm-slim`],
  ];
  for (const step of steps) {
    const { code, output } = await buildah(step);
    if (code !== 0) return lastLines(output);
  }
  return undefined;
}

function addNode(rootfs: string): string | undefined {
  const npm = findProgram('npm');
  if (npm === undefined) return 'npm is not installed';
  const modules = dirname(dirname(realpathSync(npm)));
  const local = join(rootfs, 'usr/local');
  mkdirSync(join(local, 'lib/node_modules'), { recursive: true });
  cpSync(process.execPath, join(local, 'bin/node'));
  cpSync(modules, join(local, 'lib/node_modules/npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'));
  return undefined;
}

/** If this machine trusts its own certificate authority, the stand-in trusts it too, so that npm works in it. */
function trustThisMachine(rootfs: string): readonly string[] {
  const settings = ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'];
  const bundle = process.env.NODE_EXTRA_CA_CERTS;
  if (bundle !== undefined && existsSync(bundle)) {
    cpSync(realpathSync(bundle), join(rootfs, 'etc/ssl/certs/this-machine.crt'));
    settings.push('NODE_EXTRA_CA_CERTS=/etc/ssl/certs/this-machine.crt');
  }
  const resolver = '/etc/resolv.conf';
  if (existsSync(resolver) && readFileSync(resolver, 'utf8') !== '') cpSync(resolver, join(rootfs, resolver));
  return settings;
}
