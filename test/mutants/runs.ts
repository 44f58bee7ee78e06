import type { Mutant } from './mutant.ts';

export const RUNS: readonly Mutant[] = [
  {
    defect: 'A refused writer keeps its queue, and schedules write after write for ever.',
    file: 'shared/src/runs/write.ts',
    find: `        fault = error;
        // What is queued can never follow. Were it kept, the end of each refused write would schedule the next at once.
        queue = [];`,
    replace: '        fault = error;',
    killedBy: 'test/faults/take-over/paused.test.ts',
    test: 'while text of its turn was queued',
  },
];
