import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The full path of an executable found on `path` (a PATH value), or undefined. */
export function onPath(name: string, path: string | undefined = process.env.PATH): string | undefined {
  for (const dir of (path ?? '').split(delimiter).filter(Boolean)) {
    const file = join(dir, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this directory.
    }
  }
  return undefined;
}

/**
 * Installs a Debian package without asking anything. Gives undefined when it is there afterwards, else the reason
 * it is not: no root, no apt-get, or apt's own last words. Services that come with it are not started.
 */
export async function aptInstall(
  pkg: string,
  path: string | undefined = process.env.PATH,
): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'not root, so apt-get is not tried';
  const apt = onPath('apt-get', path);
  if (!apt) return 'there is no apt-get';
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', SYSTEMD_OFFLINE: '1' };
  try {
    // Package lists that are a little old, or being fetched by someone else, may still do.
    await run(apt, ['update', '-qq'], { env, timeout: 180_000 }).catch(() => undefined);
    const quietly = ['-y', '-qq', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=120'];
    await run(apt, ['install', ...quietly, pkg], { env, timeout: 300_000 });
    return undefined;
  } catch (error) {
    return `apt-get failed: ${String(error).split('\n').slice(-3).join(' ').trim().slice(0, 300)}`;
  }
}
