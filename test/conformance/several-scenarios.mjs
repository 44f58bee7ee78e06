// Runs several scenarios of the conformance kit one after the other in one process: to load the kit takes as much processor time
// as most of them. Arguments: the script of the kit, the names of the scenarios with commas, and the arguments that all have.
import { pathToFileURL } from 'node:url';

const [kit = '', names = '', ...args] = process.argv.slice(2);
const { exit } = process;

for (const scenario of names.split(',')) {
  process.argv.splice(1, process.argv.length, kit, ...args, '--scenario', scenario);
  const ended = new Promise((resolve) => {
    // The kit ends its process after a scenario. The files that it has written tell what it found.
    process.exit = resolve;
  });
  // A module of another name is loaded again; what it imports is not.
  await import(`${pathToFileURL(kit)}?${scenario}`);
  await ended;
}
exit(0);
