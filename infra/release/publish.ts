import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { FOLDER, ROOT, readManifests, tarballOf } from './packages.ts';

/*
 * npm run publish:packages -- [options of npm publish, such as --dry-run, --tag next, --provenance]
 *
 * Publishes the tarballs that `npm run packages` has written and checked, each after the packages that it needs.
 */
const options = process.argv.slice(2);
const tarballs = (await readManifests(ROOT)).map(tarballOf);
const missing = tarballs.filter((tarball) => !existsSync(tarball));
if (missing.length > 0) {
  process.stderr.write(
    `${missing.join('\n')}\nThese are missing in ${FOLDER}: npm run packages writes them.\n`,
  );
  process.exit(1);
}
for (const tarball of tarballs)
  execFileSync('npm', ['publish', tarball, '--access', 'public', ...options], {
    cwd: ROOT,
    stdio: 'inherit',
  });
