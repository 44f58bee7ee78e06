import { findCompose } from '../../infra/check/compose.ts';
import { findProgram } from '../../infra/check/tools.ts';
import { aptInstall } from './on-path.ts';

interface Program {
  readonly name: string;
  /** The Debian package that has it. */
  readonly pkg: string;
  readonly isThere: () => boolean | Promise<boolean>;
}

/** What judges the files that Parley ships: the programs that they are written for. */
const PROGRAMS: readonly Program[] = [
  ...[
    { name: 'haproxy', pkg: 'haproxy' },
    { name: 'nginx', pkg: 'nginx' },
    { name: 'promtool', pkg: 'prometheus' },
  ].map((program) => ({ ...program, isThere: () => findProgram(program.name) !== undefined })),
  {
    name: 'docker-compose',
    pkg: 'docker-compose',
    isThere: async () => (await findCompose()) !== undefined,
  },
];

/**
 * Installs the programs that judge the shipped files, where they are missing and apt-get may be used, and says so.
 * Nothing fails without them: what needs one says "not run".
 */
export async function ensurePrograms(say: (text: string) => void): Promise<void> {
  for (const { name, pkg, isThere } of PROGRAMS) {
    if (await isThere()) continue;
    say(`No ${name}: installing the package ${pkg} with apt-get…`);
    const failed = await aptInstall(pkg);
    if (failed !== undefined) say(`No ${name}: ${failed}. What needs it says "not run".`);
  }
}
