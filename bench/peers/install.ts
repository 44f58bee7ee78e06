import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const FOLDER = new URL('./', import.meta.url);

/** Installs the packages of the peers, unless they are there in the versions of package.json. Rejects with npm's reason. */
export async function installPeers(progress: (text: string) => void): Promise<void> {
  if (await isInstalled()) return;
  progress('peers: installing their packages into bench/peers/node_modules, which needs a package registry…');
  try {
    await promisify(execFile)('npm', ['ci'], { cwd: fileURLToPath(FOLDER) });
  } catch (error) {
    const { stderr = '' } = error as { readonly stderr?: string };
    const lines = stderr.split('\n').filter((line) => line.startsWith('npm error'));
    throw new Error(`the packages cannot be installed: ${lines.slice(0, 3).join(' ') || String(error)}`);
  }
}

async function isInstalled(): Promise<boolean> {
  const { dependencies = {} } = await readPackage('package.json');
  const installed = Object.entries(dependencies).map(
    async ([name, version]) => (await readPackage(`node_modules/${name}/package.json`)).version === version,
  );
  return (await Promise.all(installed)).every(Boolean);
}

interface PackageFile {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Empty where there is none. */
async function readPackage(path: string): Promise<PackageFile> {
  const text = await readFile(new URL(path, FOLDER), 'utf8').catch(() => '{}');
  return JSON.parse(text) as PackageFile;
}
