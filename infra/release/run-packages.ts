import { faultsOfPacked, lintPacked, lintTypes } from './judge.ts';
import { FOLDER, packAll, ROOT, readManifests } from './packages.ts';
import { faultsOfLicences, writeSboms } from './sbom.ts';
import { installTools } from './tools.ts';

/*
 * npm run packages
 *
 * Builds and packs every published package into `.tmp/packages`, writes a bill of materials next to each, and fails if
 * one may not be published. `npm test` installs the packages from a registry and runs them.
 */
const print = (text: string) => void process.stdout.write(`${text}\n`);

await installTools(print);
const packed = await packAll(ROOT, FOLDER);
const manifests = await readManifests(ROOT);
const sboms = await writeSboms(FOLDER);
const faults = [
  ...faultsOfPacked(packed, manifests),
  ...[...sboms].flatMap(([name, sbom]) => faultsOfLicences(sbom).map((fault) => `${name}: ${fault}`)),
  ...(await lintPacked(packed)),
  ...(await lintTypes(packed)),
];
for (const { name, bytes, files } of packed) {
  const parts = sboms.get(name)?.components.length ?? 0;
  const columns = [`${(bytes / 1e6).toFixed(2)} MB`, `${files.length} files`, `${parts} parts`];
  print(`${name.padEnd(16)}${columns.map((column) => column.padStart(12)).join('')}`);
}
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
