#!/usr/bin/env node
// An installed package has a build; a checkout has only sources, which run through tsx.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const isCheckout = existsSync(new URL('../tsconfig.build.json', import.meta.url));

if (isCheckout) {
  const sources = fileURLToPath(new URL('../src/main.ts', import.meta.url));
  const flags = ['--conditions=parley-source', '--import', import.meta.resolve('tsx')];
  const child = spawn(process.execPath, [...flags, sources, ...process.argv.slice(2)], { stdio: 'inherit' });
  // The terminal sends its signals to both processes; the child decides what they mean.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code) => process.exit(code ?? 1));
} else {
  await import('../dist/main.js');
}
