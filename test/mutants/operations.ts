import type { Mutant } from './mutant.ts';

const WEBHOOKS_TEST = 'test/integration/webhooks/webhooks.test.ts';
const DELIVERY = 'shared/src/delivery/deliver-webhook.ts';
const LOG_TEST = 'test/unit/runtime/log.test.ts';

export const OPERATIONS: readonly Mutant[] = [
  {
    defect: 'A redrive removes a dead letter that was written meanwhile.',
    file: 'shared/src/delivery/webhooks.ts',
    find: 'await deadLetters.remove(tenant, deliveryId, diedAt);',
    replace: 'await deadLetters.remove(tenant, deliveryId);',
    killedBy: WEBHOOKS_TEST,
    test: 'previous one stays',
  },
  {
    defect: 'A webhook that was delivered stays in the list of dead letters.',
    file: DELIVERY,
    find: 'deps.deadLetters.remove(tenant, webhookIdOf(id)),',
    replace: '',
    killedBy: WEBHOOKS_TEST,
    test: 'one dead letter until it is accepted',
  },
  {
    defect: 'A webhook is sent without a signature where the tenant has no secret.',
    file: DELIVERY,
    find: 'secrets.length === 0\n',
    replace: 'secrets === undefined\n',
    killedBy: WEBHOOKS_TEST,
    test: 'never sent unsigned',
  },
  {
    defect: 'A webhook to a private address is tried again for days.',
    file: DELIVERY,
    find: "'refused_address', ",
    replace: '',
    killedBy: 'test/integration/webhooks/attacks.test.ts',
    test: 'private network',
  },
  {
    defect: 'The job of a deadline that came too early is lost.',
    file: 'services/worker/src/jobs.ts',
    find: 'return next?.deadline === deadline\n',
    replace: 'return next?.deadline === -1\n',
    killedBy: 'test/integration/worker/worker.test.ts',
    test: 'came too early',
  },
  {
    defect: 'A job of a newer build is dropped by an older worker.',
    file: 'shared/src/redis/jobs/workers.ts',
    find: 'if (repeatJobKey !== undefined && overdueMs > unknownRetryMs) return undefined;',
    replace: 'return undefined;',
    killedBy: 'test/integration/worker/worker.test.ts',
    test: 'unknown name',
  },
  {
    defect: 'Schedules that Redis lost come back only after a while.',
    file: 'shared/src/redis/jobs/schedules.ts',
    find: "connection.on('ready', () => nudge());",
    replace: '',
    killedBy: 'test/integration/worker/schedules.test.ts',
    test: 'connected again',
  },
  {
    defect: 'A process closes Redis before what uses it.',
    file: 'shared/src/runtime/lifecycle.ts',
    find: 'let next = releases.pop(); next !== undefined; next = releases.pop()',
    replace: 'let next = releases.shift(); next !== undefined; next = releases.shift()',
    killedBy: 'test/unit/runtime/lifecycle.test.ts',
    test: 'reverse order',
  },
  {
    defect: 'A secret deep within the fields of a line is logged.',
    file: 'shared/src/runtime/log.ts',
    find: 'SECRETS.has(key) ? CENSORED : showable(inner, depth + 1),',
    replace: 'showable(inner, depth + 1),',
    killedBy: LOG_TEST,
  },
  {
    defect: 'The password of a Redis URL is logged with the error of a library.',
    file: 'shared/src/runtime/log.ts',
    find: '|rediss?):',
    replace: '):',
    killedBy: LOG_TEST,
    test: 'a Redis password',
  },
  {
    defect: 'A process whose event loop does not turn is never ended.',
    file: 'shared/src/runtime/watchdog.ts',
    find: 'if (silent < checks || isDebugged) return;',
    replace: 'if (silent < checks || true) return;',
    killedBy: 'test/unit/runtime/watchdog.test.ts',
    test: 'no longer turns ends',
  },
  {
    defect: 'A process that was paused for longer than the limit is ended.',
    file: 'shared/src/runtime/watchdog.ts',
    find: 'silent = now === seen ? silent + 1 : 0;',
    replace: 'silent = silent + 1;',
    killedBy: 'test/unit/runtime/watchdog.test.ts',
    test: 'goes on',
  },
];
