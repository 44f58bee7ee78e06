import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { bundleEntry } from '../../harness/processes/bundle.ts';

const run = promisify(execFile);
const LIBRARY = createRequire(import.meta.url).resolve('@napi-rs/keyring');
const LOCKFILE = new URL('../../../package-lock.json', import.meta.url);

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-keyring-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Runs Node as if it were on another system; a system of one's own would open its real keyring. */
function runOn(platform: string, arch: string, args: readonly string[], env: Record<string, string> = {}) {
  const system = `for (const [k, value] of [['platform', '${platform}'], ['arch', '${arch}']]) Object.defineProperty(process, k, { value });`;
  const preset = `--import=data:text/javascript,${encodeURIComponent(system)}`;
  const child = run(process.execPath, [preset, ...args], { env: { PATH: process.env.PATH ?? '', ...env } });
  child.child.stdin?.end('its-value');
  return child;
}

const SYSTEMS = [
  ['darwin', 'arm64', '@napi-rs/keyring-darwin-arm64'],
  ['darwin', 'x64', '@napi-rs/keyring-darwin-x64'],
  ['win32', 'arm64', '@napi-rs/keyring-win32-arm64-msvc'],
  ['win32', 'x64', '@napi-rs/keyring-win32-x64-msvc'],
] as const;

const OTHERS = SYSTEMS.filter(([platform]) => platform !== process.platform);

it.each(OTHERS)(
  'on %s %s the keyring is that of the library for the system, and is installed there',
  async (platform, arch, part) => {
    const load = `try { require(${JSON.stringify(LIBRARY)}) } catch (error) { for (let e = error; e; e = e.cause) console.log(e.message) }`;
    const { stdout } = await runOn(platform, arch, ['-e', load]);
    expect(stdout).toContain(`'${part}'`);
    const { packages } = JSON.parse(readFileSync(LOCKFILE, 'utf8'));
    expect(packages[`node_modules/${part}`]).toMatchObject({ os: [platform], cpu: [arch], optional: true });
  },
);

// What follows from a missing part is the same for every processor of a system.
it.each(OTHERS.filter(([, arch]) => arch === 'arm64'))(
  'on %s %s secrets are in the encrypted file when that part of the library is missing',
  async (platform, arch) => {
    const folder = newFolder();
    const command = [await bundleEntry('clients/cli/src/main.ts'), '--json', 'secret', 'set', 'tool'];
    const { stdout } = await runOn(platform, arch, command, { PARLEY_HOME: folder });
    expect(JSON.parse(stdout)).toMatchObject({ place: join(folder, 'secrets.json') });
    expect(readdirSync(folder).sort()).toEqual(['secrets.json', 'secrets.key']);
  },
);

it.runIf(process.platform === 'linux')(
  'without a Secret Service secrets are in the encrypted file: the keyring of the kernel is lost with the next start',
  async () => {
    const folder = newFolder();
    // The kernel may refuse the first access of a process, but not the next one.
    const access = `import { createRequire } from 'node:module';
      const { AsyncEntry } = createRequire('file:///')(${JSON.stringify(LIBRARY)});
      await new AsyncEntry('parley-tests', 'first').setPassword('x').catch(() => undefined);`;
    const preset = `--import=data:text/javascript,${encodeURIComponent(access)}`;
    const command = [await bundleEntry('clients/cli/src/main.ts'), '--json', 'secret', 'set', 'tool'];
    const env = { PATH: process.env.PATH ?? '', PARLEY_HOME: folder, XDG_RUNTIME_DIR: folder };
    const child = run(process.execPath, [preset, ...command], { env });
    child.child.stdin?.end('its-value');
    expect(JSON.parse((await child).stdout)).toMatchObject({ place: join(folder, 'secrets.json') });
  },
);
