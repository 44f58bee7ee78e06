#!/usr/bin/env node
// Each program is a single file that reads its settings from the environment.
const PROGRAMS = ['api', 'worker', 'rekey'];
const [program] = process.argv.slice(2);

if (PROGRAMS.includes(program)) {
  process.argv.splice(2, 1);
  await import(`../dist/${program}/main.cjs`);
} else {
  const isAsked = program === '--help' || program === undefined;
  process.stdout.write(
    `usage: parley-server <${PROGRAMS.join(' | ')}>\n\nSettings come from the environment: docs/configuration.md.\n`,
  );
  process.exitCode = isAsked ? 0 : 2;
}
