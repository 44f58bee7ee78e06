import { defineConfig } from 'nitro';

export default defineConfig({
  modules: ['workflow/nitro'],
  serverDir: './',
  // Bundled, the local world could not read its own version, and would not go on with the runs of a killed process.
  traceDeps: ['@workflow/world-local'],
});
