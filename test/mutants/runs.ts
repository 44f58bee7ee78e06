import type { Mutant } from './mutant.ts';

export const RUNS: readonly Mutant[] = [
  {
    defect: 'A pod that lost a run writes on under its old term.',
    file: 'shared/src/redis/runs/write.lua',
    find: "if currentTerm ~= term then return 'fenced' end",
    replace: '',
    killedBy: 'test/faults/take-over/paused.test.ts',
    test: 'while it waited for an answer',
  },
  {
    defect: 'Two pods take over the same run.',
    file: 'shared/src/redis/runs/take-over.lua',
    find: 'if term ~= seenTerm then return 0 end',
    replace: '',
    killedBy: 'test/contract/redis.test.ts',
    test: 'leaves the runs in the states of the table',
  },
];
