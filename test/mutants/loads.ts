import type { Mutant } from './mutant.ts';

/** Defects that show only while a fault meets requests that are under way. */
export const LOADS: readonly Mutant[] = [
  {
    defect: 'A subscription that was lost comes back without a word about what was missed.',
    file: 'shared/src/redis/client/subscriber.ts',
    find: 'interrupted.delete(channel) && hasListeners(channel)',
    replace: 'interrupted.delete(channel) && !hasListeners(channel)',
    killedBy: 'test/faults/pubsub-kill.test.ts',
  },
];
