import type { Mutant } from './mutant.ts';

export const RUNS: readonly Mutant[] = [
  {
    defect: 'A pod that lost a run writes on under its old term.',
    file: 'shared/src/redis/runs/write.lua',
    find: "if currentTerm ~= term then return 'fenced' end",
    replace: '',
    killedBy: 'test/faults/take-over/interrupted.test.ts',
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
  {
    defect: 'A pod that ends releases its runs and tells no other pod.',
    file: 'shared/src/runs/hand-over.ts',
    find: 'if (term !== undefined) await retryWhileUnavailable(() => runQueue.offer(run, term));',
    replace: 'void [term, runQueue];',
    killedBy: 'test/faults/take-over/times.test.ts',
    test: 'SIGTERM',
  },
  {
    defect: 'A reader that comes back gets its last event again.',
    file: 'shared/src/redis/feed/feed.ts',
    find: "return { type: 'entries', entries: rest };",
    replace: "return { type: 'entries', entries: [first, ...rest] };",
    killedBy: 'test/faults/streams.test.ts',
    test: 'the pod of a stream is killed',
  },
  {
    defect: 'The streams of a dead pod count against their person for ever.',
    file: 'services/api/src/http/limits/stream-places.ts',
    find: 'const haveLapsed = await Promise.all(owners.map((owner) => holder.hasLapsed(owner)));',
    replace: 'const haveLapsed = owners.map(() => false);',
    killedBy: 'test/faults/places.test.ts',
    test: 'a pod that was killed',
  },
  {
    defect: 'A webhook that was refused is not tried again.',
    file: 'shared/src/delivery/deliver-webhook.ts',
    find: 'const retryInMs = final ? undefined : pauseAfter({ attempt, retryAfterMs, random });',
    replace: 'const retryInMs = undefined as number | undefined;',
    killedBy: 'test/e2e/webhooks.test.ts',
    test: 'repeated until it is accepted',
  },
];
