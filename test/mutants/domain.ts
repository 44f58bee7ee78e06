import type { Mutant } from './mutant.ts';

const RUNS = 'shared/src/domain/runs/transition.ts';
const RUNS_TEST = 'test/unit/domain/runs-transition.test.ts';

export const DOMAIN: readonly Mutant[] = [
  {
    defect: 'A pod that has lost its run writes on.',
    file: RUNS,
    find: "if (run.term !== term) return 'fenced';",
    replace: "if (run.term < term) return 'fenced';",
    killedBy: RUNS_TEST,
  },
  {
    defect: 'A write that is sent again appends its events twice.',
    file: RUNS,
    find: 'Math.min(eventBytes.length, Math.max(0, run.writerSeq - write.firstSeq + 1))',
    replace: '0',
    killedBy: RUNS_TEST,
  },
  {
    defect: 'A form takes keys that it does not have.',
    file: 'clients/core/src/domain/forms/answer.ts',
    find: 'if (Object.hasOwn(schema.properties, name) || content[name] === undefined) continue;',
    replace: 'if (name !== schema.title) continue;',
    killedBy: 'test/unit/domain/form-answer.test.ts',
  },
  {
    defect: 'A form that must not be typed into a client is shown there.',
    file: 'shared/src/domain/reach.ts',
    find: '!client.form || (sensitive && client.sensitiveForms === false)',
    replace: '!client.form',
    killedBy: 'test/unit/domain/reach.test.ts',
  },
  {
    defect: 'A person is notified in their quiet hours after midnight.',
    file: 'clients/core/src/domain/notify.ts',
    find: 'const length = (to - from + DAY_MINUTES) % DAY_MINUTES;',
    replace: 'const length = Math.max(0, to - from);',
    killedBy: 'test/unit/domain/notify.test.ts',
  },
  {
    defect: 'A url without encryption is shown to a person in production.',
    file: 'clients/core/src/domain/url.ts',
    find: "if (url.protocol !== 'https:' && !(loopback && rules.allowLoopbackHttp))",
    replace: "if (url.protocol !== 'https:' && !loopback)",
    killedBy: 'test/unit/domain/url.test.ts',
  },
  {
    defect: 'A credential opens for another user of its tenant.',
    file: 'shared/src/vault/seal.ts',
    find: 'JSON.stringify([VERSION, part, purpose, recordId, tenant, userId, toolId, connectorId])',
    replace: 'JSON.stringify([VERSION, part, purpose, recordId, tenant, toolId, connectorId])',
    killedBy: 'test/unit/vault/seal.test.ts',
  },
  {
    defect: 'Two pods use the same refresh token at once.',
    file: 'shared/src/vault/refresh.ts',
    find: 'if (await deps.leases.lease(ref, holder, settings.leaseMs))',
    replace: 'if ((await deps.leases.lease(ref, holder, settings.leaseMs)) || true)',
    killedBy: 'test/contract/memory.test.ts',
    test: 'a credential that has to be refreshed',
  },
  {
    defect: 'A webhook shows the answer to a sensitive question.',
    file: 'shared/src/domain/webhooks/webhook.ts',
    find: 'content: row.definition.sensitive !== true',
    replace: 'content: true',
    killedBy: 'test/unit/domain/webhook.test.ts',
  },
  {
    defect: 'An audit leaves an ended row without an expiry.',
    file: 'shared/src/redis/audit/repair.lua',
    find: 'elseif settledAt and (life < 0 or life > retention) then',
    replace: 'elseif settledAt and life > retention then',
    killedBy: 'test/integration/redis/audit.test.ts',
  },
  {
    defect: 'A worker does not renew its lease on maintenance, so that another one begins beside it.',
    file: 'shared/src/redis/audit/exclusive.ts',
    find: 'const renewing = setInterval(() => void keepLease(lease, holder, lost), leaseMs / RENEWALS);',
    replace: 'const renewing = setInterval(() => void keepLease, leaseMs / RENEWALS);',
    killedBy: 'test/integration/redis/audit.test.ts',
    test: 'runs on one worker at a time',
  },
  {
    defect: 'A place of a stream ends although its holder renews it.',
    file: 'shared/src/redis/limits/hold.lua',
    find: "redis.call('ZADD', places, now + lease, place)",
    replace: "redis.call('ZADD', places, 'NX', now + lease, place)",
    killedBy: 'test/contract/redis.test.ts',
    test: 'is kept while its lease is renewed',
  },
];
