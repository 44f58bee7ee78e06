import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleProgram, ROOT } from './bundle.ts';
import { writeThirdParty } from './third-party.ts';

/*
 * npm run bundle
 *
 * Writes `dist/<program>/main.cjs` and the files that it runs, for each released program, and THIRD_PARTY with the
 * licences of the bundled packages. They need only Node to run.
 */
const PROGRAMS = {
  api: 'services/api/src/main.ts',
  worker: 'services/worker/src/main.ts',
  rekey: 'services/worker/src/rekey.ts',
};

const dist = join(ROOT, 'dist');
await rm(dist, { recursive: true, force: true });
const inputs = new Set<string>();
for (const [name, entry] of Object.entries(PROGRAMS)) {
  const { metafile } = await bundleProgram({ entry, folder: join(dist, name), withMap: true });
  for (const path of Object.keys(metafile.inputs)) inputs.add(path);
  const [bytes] = Object.entries(metafile.outputs).flatMap(([path, output]) =>
    path.endsWith('.cjs') ? [output.bytes] : [],
  );
  console.log(`${name.padEnd(10)} ${String(bytes).padStart(9)} B`);
}
await writeThirdParty([...inputs], join(dist, 'THIRD_PARTY'));
