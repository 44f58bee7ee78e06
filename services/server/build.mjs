/**
 * Fills dist/ with what the package holds: the bundles of `npm run bundle`, and what the command imports, as one file. After
 * that the package needs no other one.
 */
import { cp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const HERE = dirname(fileURLToPath(import.meta.url));

await cp(join(HERE, '../../dist'), join(HERE, 'dist'), { recursive: true });
await build({
  absWorkingDir: HERE,
  entryPoints: ['src/diagnosis.ts'],
  outfile: 'dist/diagnosis.js',
  bundle: true,
  minify: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  conditions: ['parley-source'],
  // The packages in it are CommonJS and require modules of Node.
  banner: {
    js: "import { createRequire } from 'node:module';const require = createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
