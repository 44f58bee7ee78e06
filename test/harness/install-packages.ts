import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/**
 * Installs the packages of a folder with a package.json of its own, unless they are there in these versions. `omit`
 * leaves the optional ones out. Rejects with npm's reason.
 */
export async function installPackages(
  folder: URL,
  progress: (text: string) => void,
  { omit = false }: { readonly omit?: boolean } = {},
): Promise<void> {
  if (await isInstalled(folder, omit)) return;
  progress(`installing packages into ${fileURLToPath(folder)}node_modules, which needs a package registry…`);
  const npm = (...args: string[]) =>
    promisify(execFile)('npm', [...args, ...(omit ? ['--omit=optional'] : [])], {
      cwd: fileURLToPath(folder),
    });
  try {
    await npm('ci').catch((error: unknown) => {
      // An optional package for another system that the registry does not have: `npm ci` refuses any lock file then.
      if (!reasonOf(error).includes('Missing:')) throw error;
      return npm('install', '--no-save');
    });
  } catch (error) {
    const lines = reasonOf(error)
      .split('\n')
      .filter((line) => line.startsWith('npm error'));
    throw new Error(`the packages cannot be installed: ${lines.slice(0, 3).join(' ') || String(error)}`);
  }
}

function reasonOf(error: unknown): string {
  return (error as { readonly stderr?: string }).stderr ?? '';
}

/** True where every package that package.json names is there in its version. */
export async function isInstalled(folder: URL, omit = false): Promise<boolean> {
  const { dependencies = {}, optionalDependencies = {} } = await readPackage(folder, 'package.json');
  const installed = Object.entries({ ...dependencies, ...(!omit && optionalDependencies) }).map(
    async ([name, version]) =>
      // Under another name than its own, a package has the form `npm:name@version`.
      (await readPackage(folder, `node_modules/${name}/package.json`)).version === version.split('@').at(-1),
  );
  return (await Promise.all(installed)).every(Boolean);
}

interface PackageFile {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Empty where there is none. */
async function readPackage(folder: URL, path: string): Promise<PackageFile> {
  const text = await readFile(new URL(path, folder), 'utf8').catch(() => '{}');
  return JSON.parse(text) as PackageFile;
}
