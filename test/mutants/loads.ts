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
  {
    defect: 'A script is sent to Redis once, and not again after Redis has forgotten it.',
    file: 'shared/src/redis/client/script.ts',
    find: '        return redis.eval(source, keys.length, ...keys, ...args);',
    replace:
      "        if (hash in process.env) throw error;\n        process.env[hash] = '';\n        return redis.eval(source, keys.length, ...keys, ...args);",
    killedBy: 'test/faults/commands.test.ts',
    test: 'the scripts are flushed',
  },
];
