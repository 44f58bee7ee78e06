/** Writes the bill of materials of each package, and checks the licences in it. Packing the packages is in `packages.ts`. */

import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PUBLISHED, ROOT, run } from './packages.ts';

/** Licences of code that may be part of Parley or be installed with it. */
const LICENCES = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  // The licence of the Python Software Foundation. Some packages contain a port of its command-line parser.
  'PSF-2.0',
  'Python-2.0',
  'Unlicense',
];

/** The members of a CycloneDX bill of materials that are read here. */
export interface Sbom {
  readonly components: readonly {
    readonly name: string;
    readonly purl: string;
    readonly licenses?: readonly {
      readonly license?: { readonly id?: string };
      readonly expression?: string;
    }[];
  }[];
}

/** The workspaces that are bundled in the server, and so in its package and the images. */
const SERVER = ['services/api', 'services/worker'];

/** Writes the bill of materials of each published package. The server's covers its bundles. */
export async function writeSboms(folder: string): Promise<ReadonlyMap<string, Sbom>> {
  const copy = await copyManifests();
  try {
    const sboms = new Map<string, Sbom>();
    for (const path of PUBLISHED) {
      const workspaces = path === 'services/server' ? SERVER : [path];
      const args = [
        'sbom',
        '--sbom-format',
        'cyclonedx',
        '--sbom-type',
        'application',
        '--package-lock-only',
      ];
      const named = workspaces.flatMap((workspace) => ['--workspace', workspace]);
      const text = await run('npm', [...args, ...named], { cwd: copy });
      const name = path.slice(path.indexOf('/') + 1);
      await writeFile(join(folder, `parley-${name}.cdx.json`), text);
      sboms.set(`@parley/${name}`, JSON.parse(text) as Sbom);
    }
    return sboms;
  } finally {
    await rm(join(copy, '..'), { recursive: true, force: true });
  }
}

/**
 * Copies the lock file and the manifests without development dependencies. `npm sbom --omit dev` would also omit packages that
 * both development and the product need.
 */
async function copyManifests(): Promise<string> {
  // npm uses the folder's name as the name of the product in the bill.
  const copy = join(await mkdtemp(join(tmpdir(), 'parley-sbom-')), 'parley');
  for (const path of ['.', 'shared', ...SERVER, ...PUBLISHED]) {
    const manifest = JSON.parse(await readFile(join(ROOT, path, 'package.json'), 'utf8')) as Record<
      string,
      unknown
    >;
    const { devDependencies, ...rest } = manifest;
    // The root depends on a program that runs sources, which no package needs. The widget's built files contain its development
    // dependencies.
    if (path === '.') delete rest.dependencies;
    if (path === 'clients/widget') Object.assign(rest.dependencies as object, devDependencies);
    await mkdir(join(copy, path), { recursive: true });
    await writeFile(join(copy, path, 'package.json'), JSON.stringify(rest));
  }
  await cp(join(ROOT, 'package-lock.json'), join(copy, 'package-lock.json'));
  await run('npm', ['install', '--package-lock-only', '--ignore-scripts', '--offline'], { cwd: copy });
  return copy;
}

/** Components whose licence is not allowed, one sentence each. */
export function faultsOfLicences({ components }: Sbom): string[] {
  return components.flatMap(({ purl, licenses = [] }) => {
    const named = licenses.map(({ license, expression }) => license?.id ?? expression ?? 'no licence');
    const isAllowed = named.length > 0 && named.every((one) => isAllowedLicence(one));
    return isAllowed ? [] : [`${purl} has the licence ${named.join(', ') || 'of no name'}`];
  });
}

/** An expression with OR is allowed if one of its sides is allowed. */
function isAllowedLicence(expression: string): boolean {
  return expression
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((side) => side.split(' AND ').every((one) => LICENCES.includes(one.trim())));
}
