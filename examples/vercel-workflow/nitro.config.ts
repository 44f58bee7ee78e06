import { defineConfig } from 'nitro';

export default defineConfig({
  modules: ['workflow/nitro'],
  serverDir: './',
  // If this package were bundled, it could not read its own version, and would not continue the runs of a killed process.
  traceDeps: ['@workflow/world-local'],
});
