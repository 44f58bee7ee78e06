import { defineConfig } from 'vitest/config';

// Failovers are minutes of waiting for servers to notice.
const FAILOVERS = 'test/faults/{cluster,sentinel}.test.ts';
// Without `import`, which is implied where it applies: named, it would have require() load ES modules.
const conditions = ['parley-source', 'node'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // A page that shares two cores with everything else may take its time.
    expect: { poll: { timeout: 30_000 } },
    projects: [
      // These wait more than they work, so two go side by side.
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['test/{bench,contract,house,infra,integration,unit,vault}/**/*.test.ts', FAILOVERS],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      // A few pods and a browser each, mostly waiting for each other.
      {
        extends: true,
        test: {
          name: 'pages',
          include: ['test/{browser,e2e}/**/*.test.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      // Each of these puts the whole machine under load.
      {
        extends: true,
        test: {
          name: 'proofs',
          include: ['test/{attacks,faults}/**/*.test.ts'],
          exclude: [FAILOVERS],
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
