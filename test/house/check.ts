import { fileURLToPath } from 'node:url';
import { checkHouse, readSources } from './check-house.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = readSources(root);
const faults = checkHouse(sources);
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.stdout.write(`house: ${sources.length} files, ${faults.length} violations\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
