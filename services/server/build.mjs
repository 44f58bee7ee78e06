/**
 * Fills dist/ with the package's contents: the bundles of `npm run bundle`, and everything that the command imports in one
 * file. The package then needs no other package.
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
  // The bundled packages are CommonJS and require Node's modules.
  banner: {
    js: "import { createRequire } from 'node:module';const require = createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
