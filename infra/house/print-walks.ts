import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { walkThrough } from './walk-through.ts';

/**
 * `npm run walks` prints the files through which a call passes, by room, and how often it returns to a room that it has left.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));
const [wanted = ''] = process.argv.slice(2);

function read(path: string): string | undefined {
  const file = join(root, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

const walks = walkThrough(read).filter(({ name }) => name.includes(wanted));
for (const { name, steps, returns } of walks) {
  console.log(`\n${name}: ${new Set(steps.map(({ room }) => room)).size} rooms, ${returns.length} returns`);
  let last = '';
  for (const { room, path, name: called } of steps) {
    if (room !== last) console.log(`  ${room}`);
    console.log(`    ${path.slice(room.length + 1)} ${called}`);
    last = room;
  }
}
const faults = walks.flatMap((walk) => walk.faults);
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
