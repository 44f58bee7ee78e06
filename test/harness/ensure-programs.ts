import { findProgram } from '../../infra/check/programs.ts';
import { aptInstall } from './on-path.ts';

/** The programs that check the infrastructure files, stand for a terminal or a keyring, move a clock, run the Python client, or show pages, with the Debian package of each. */
const PACKAGES = {
  'chromium-headless-shell': 'chromium-headless-shell',
  'dbus-run-session': 'dbus-daemon',
  'gnome-keyring-daemon': 'gnome-keyring',
  faketime: 'faketime',
  'firefox-esr': 'firefox-esr',
  haproxy: 'haproxy',
  nginx: 'nginx',
  promtool: 'prometheus',
  python3: 'python3',
  'docker-compose': 'docker-compose',
  'redis-server': 'redis-server',
  tmux: 'tmux',
};

/** What builds the images, with the Debian package of each. */
const BUILDERS = { buildah: 'buildah', crun: 'crun', debootstrap: 'debootstrap' };

/**
 * Installs the missing programs with apt-get and reports each through `report`. A check or a test whose program is
 * still missing prints "not run"; under CI=true it fails. Tests of pages also run in any other Chromium.
 */
export async function ensurePrograms(
  report: (text: string) => void,
  { builders = false } = {},
): Promise<void> {
  for (const [name, pkg] of Object.entries({ ...PACKAGES, ...(builders ? BUILDERS : {}) })) {
    if (findProgram(name) !== undefined) continue;
    report(`No ${name}: installing the package ${pkg} with apt-get…`);
    const failed = await aptInstall(pkg);
    if (failed !== undefined)
      report(`No ${name}: ${failed}. What needs it and finds no substitute is not run.`);
  }
}
