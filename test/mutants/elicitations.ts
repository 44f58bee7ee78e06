import type { Mutant } from './mutant.ts';

const TABLE = 'shared/src/domain/elicitations/transition.ts';
const TABLE_TEST = 'test/unit/domain/transition.test.ts';
const STEP = 'shared/src/redis/elicitations/step.lua';
const ON_REDIS = 'test/contract/redis.test.ts';
const IN_MEMORY = 'test/contract/memory.test.ts';

export const ELICITATIONS: readonly Mutant[] = [
  {
    defect: 'An answer is accepted after its deadline.',
    file: TABLE,
    find: "if (!isTerminal(row.status) && now >= row.expiresAt && command.type !== 'expire') {",
    replace: 'if (false) {',
    killedBy: TABLE_TEST,
  },
  {
    defect: 'The script commits a decision on a row that another pod has moved since.',
    file: STEP,
    find: 'if currentRevision ~= revision or createdAt',
    replace: 'if createdAt',
    killedBy: ON_REDIS,
    test: 'a race of all decisions on two pods',
  },
  {
    defect: 'The script takes an answer that was decided before the deadline and arrives after it.',
    file: STEP,
    find: "(now >= tonumber(expiresAt)) ~= (guard == 'due')",
    replace: 'false',
    killedBy: ON_REDIS,
    test: 'refuses an answer that was decided before it',
  },
  {
    defect: 'The wakes are published before the row and the feed hold what they announce.',
    file: STEP,
    find: '  local feedTtl = retention\n',
    replace: "  publishWake('1-1', nowText, wakeJson, streamChannel, inbox)\n  local feedTtl = retention\n",
    killedBy: ON_REDIS,
    test: 'publishes wakes with the same positions',
  },
  {
    defect: 'A waiter sleeps through an answer that came before its subscription.',
    file: 'shared/src/records/wait.ts',
    find: '    wakeSignal.notify();\n  });\n  const checks',
    replace: "    if (signal.type === 'event') wakeSignal.notify();\n  });\n  const checks",
    killedBy: ON_REDIS,
    test: 'misses no answer',
  },
  {
    defect: 'Subscriptions are not resynchronised after a lost connection.',
    file: 'shared/src/redis/client/subscriber.ts',
    find: 'resyncs.add(batch.filter(',
    replace: 'void (batch.filter(',
    killedBy: ON_REDIS,
    test: 'says resync again whenever',
  },
  {
    defect: 'A key that was used for another body finds the first question.',
    file: 'shared/src/records/claim-key.ts',
    find: 'if (!isSame && !keyDecides) {',
    replace: 'if (false) {',
    killedBy: IN_MEMORY,
    test: 'with another body is a mismatch',
  },
  {
    defect: 'Another user of the tenant may read the question.',
    file: 'shared/src/domain/caller.ts',
    find: "return caller.kind === 'service' || caller.userId === row.definition.userId;",
    replace: 'return true;',
    killedBy: IN_MEMORY,
    test: 'is accepted from the owner only',
  },
  {
    defect: 'The event of an answer shows the answer to every reader of the stream.',
    file: TABLE,
    find: 'event: eventOf(row.id, row.revision + 1, status, settlement),',
    replace: 'event: { ...eventOf(row.id, row.revision + 1, status, settlement), ...settlement } as never,',
    killedBy: TABLE_TEST,
  },
  {
    defect: 'A task of the outbox that is noted during its lease is lost.',
    file: 'shared/src/redis/outbox/tasks.lua',
    find: "redis.call('HSET', tries, task .. ' noted', 1)",
    replace: 'local lost = true',
    killedBy: ON_REDIS,
    test: 'waits with a task that is noted during a lease',
  },
];
