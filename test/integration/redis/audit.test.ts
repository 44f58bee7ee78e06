import { setTimeout as sleep } from 'node:timers/promises';
import type { Owner } from '@parley/core/domain/ids';
import { BUCKET_COUNT, bucketOf, mintElicitationId } from '@parley/core/domain/ids';
import { createRedisAudit } from '@parley/shared/redis/audit/audit';
import { createExclusive } from '@parley/shared/redis/audit/exclusive';
import { createRowAudit } from '@parley/shared/redis/audit/row-audit';
import { connectCommands } from '@parley/shared/redis/client/connect';
import {
  auditLeaseKey,
  deadlinesKey,
  elicitationKey,
  feedKey,
  historyKey,
  inboxKey,
  outboxKey,
  outboxTriesKey,
  tenantListKey,
} from '@parley/shared/redis/client/keys';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { answerQuestion, askQuestion, newOwner, newStream } from '../../harness/engines/questions.ts';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import { type RedisServer, startRedis } from '../../harness/redis/redis-server.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { single, startTestPod, type TestPod } from '../../harness/worker/setup.ts';

const RETENTION_MS = 3_600_000;
const NOTHING = { open: 0, repaired: 0 };
const CLEAN = { removed: 0, left: 0, repaired: 0 };

let redis: RedisServer;
let pod: TestPod;
const command = (...args: [string, ...(string | number)[]]) => redisCommand(redis.port, ...args);

beforeAll(async () => {
  redis = await startRedis();
  pod = await startTestPod({ location: single(redis.url), retentionMs: RETENTION_MS });
});
afterAll(async () => {
  await pod.close();
  await redis.stop();
});
beforeEach(() => command('FLUSHALL'));

async function asked(owner: Owner = newOwner()) {
  const { row } = await askQuestion(pod.engine, owner);
  return { id: row.id, owner, row };
}

async function ended(owner: Owner = newOwner()) {
  const question = await asked(owner);
  await answerQuestion(pod.engine, owner, question.id, 'decline');
  return question;
}

it('the sweep removes entries of a deadline index that are no ids, or belong to another bucket', async () => {
  const { id, owner } = await ended();
  const other = deadlinesKey((bucketOf(owner) + 1) % BUCKET_COUNT);
  await command('ZADD', other, 1, 'no id', 1, id);
  await pod.engine.sweep();
  expect(await command('ZCARD', other)).toBe(0);
});

describe('the index check', () => {
  it('counts open rows, and changes neither open nor ended rows', async () => {
    await Promise.all(Array.from({ length: 31 }, () => asked()));
    await Promise.all(Array.from({ length: 30 }, () => ended()));
    expect(await pod.audit.indexCheck()).toEqual({ open: 31, repaired: 0 });
  });

  it('reads the rows that are listed, and none of those that have ended', async () => {
    await asked();
    const owner = newOwner();
    for (let round = 0; round < 5; round += 1)
      await Promise.all(Array.from({ length: 40 }, () => ended(owner)));
    await command('CONFIG', 'RESETSTAT');
    expect(await pod.audit.indexCheck()).toMatchObject({ open: 1, repaired: 0 });
    const stats = String(await command('INFO', 'commandstats'));
    const callsOf = (name: string) =>
      Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
    expect(callsOf('scan')).toBe(0);
    expect(callsOf('hmget')).toBe(1);
  });

  it('corrects wrong scores', async () => {
    const { id, owner, row } = await asked();
    await command('ZADD', inboxKey(owner), 1, id);
    await command('ZADD', deadlinesKey(bucketOf(owner)), row.expiresAt + 86_400_000, id);
    expect(await pod.audit.indexCheck()).toMatchObject({ repaired: 2 });
    expect(await command('ZSCORE', inboxKey(owner), id)).toBe(String(row.createdAt));
    expect(await command('ZSCORE', deadlinesKey(bucketOf(owner)), id)).toBe(String(row.expiresAt));
  });

  it('removes the expiry of an open row', async () => {
    const { id } = await asked();
    await command('PEXPIRE', elicitationKey(id), 60_000);
    expect(await pod.audit.indexCheck()).toMatchObject({ open: 1, repaired: 1 });
    expect(await command('PTTL', elicitationKey(id))).toBe(-1);
  });

  it('removes ended rows from the deadlines and sets their expiry; the cleanup removes them from the inbox', async () => {
    const { id, owner, row } = await ended();
    await command('ZADD', inboxKey(owner), row.createdAt, id);
    await command('ZADD', deadlinesKey(bucketOf(owner)), row.expiresAt, id);
    await command('PERSIST', elicitationKey(id));
    expect(await pod.audit.indexCheck()).toEqual({ ...NOTHING, repaired: 2 });
    expect(await pod.audit.cleanup()).toEqual({ ...CLEAN, repaired: 1 });
    const life = Number(await command('PTTL', elicitationKey(id)));
    expect(life).toBeGreaterThan(0);
    expect(life).toBeLessThanOrEqual(RETENTION_MS);
    expect(await command('EXISTS', inboxKey(owner), deadlinesKey(bucketOf(owner)))).toBe(0);
  });

  it('removes members without a row, and members that are no ids; the cleanup does so in inboxes', async () => {
    const { owner } = await asked();
    const ghost = mintElicitationId(owner);
    await command('ZADD', inboxKey(owner), 1, ghost, 2, 'nonsense');
    await command('ZADD', deadlinesKey(bucketOf(owner)), 1, ghost, 2, 'nonsense');
    expect(await pod.audit.indexCheck()).toMatchObject({ open: 1, repaired: 2 });
    expect(await pod.audit.cleanup()).toEqual({ ...CLEAN, repaired: 2 });
    expect(await command('ZCARD', inboxKey(owner))).toBe(1);
    expect(await command('ZCARD', deadlinesKey(bucketOf(owner)))).toBe(1);
  });

  it('is not stopped by keys of other types or of other programs', async () => {
    const { id, owner } = await asked();
    const stranger = newOwner();
    await command('SET', elicitationKey(mintElicitationId(stranger)), 'not a hash');
    await command('SET', inboxKey(stranger), 'not a set');
    await command('HSET', `${elicitationKey(mintElicitationId(stranger))}x`, 'createdAt', 1);
    await command('SET', 'parley:{b99}:elicitation:other', 'x');
    await command('SET', 'somebody:else', 'x');
    await command('DEL', inboxKey(owner));
    expect(await pod.audit.indexCheck()).toMatchObject({ open: 1, repaired: 1 });
    expect(await pod.audit.cleanup()).toEqual(CLEAN);
    expect(await command('ZCARD', inboxKey(owner))).toBe(1);
    expect(await command('EXISTS', elicitationKey(id), 'somebody:else')).toBe(2);
  });

  it('stops when its signal is aborted', async () => {
    await asked();
    await expect(pod.audit.indexCheck(AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
    await expect(pod.audit.cleanup(AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
  });
});

describe('the cleanup', () => {
  it('puts an open row back into its inbox and the deadlines', async () => {
    const { id, owner, row } = await asked();
    await command('DEL', inboxKey(owner));
    await command('DEL', deadlinesKey(bucketOf(owner)));
    expect(await pod.audit.indexCheck()).toEqual(NOTHING);
    expect(await pod.audit.cleanup()).toEqual({ ...CLEAN, repaired: 2 });
    const page = await pod.engine.list({ owner, statuses: ['pending'], limit: 10 });
    expect(page.rows.map((each) => each.id)).toEqual([id]);
    expect(await command('ZSCORE', deadlinesKey(bucketOf(owner)), id)).toBe(String(row.expiresAt));
    expect(await pod.audit.indexCheck()).toMatchObject({ open: 1, repaired: 0 });
  });

  it('shortens an expiry longer than the retention', async () => {
    const { id } = await ended();
    await command('PEXPIRE', elicitationKey(id), 10 * RETENTION_MS);
    expect(await pod.audit.cleanup()).toEqual({ ...CLEAN, removed: 1 });
    expect(Number(await command('PTTL', elicitationKey(id)))).toBeLessThanOrEqual(RETENTION_MS);
  });

  it('reads no more keys in a second than it may', async () => {
    await Promise.all(Array.from({ length: 20 }, () => ended()));
    const keys = Number(await command('DBSIZE'));
    const connection = connectCommands(single(redis.url));
    await waitUntil(() => connection.status === 'ready', { what: 'the connection' });
    const audit = createRedisAudit({
      redis: connection,
      retentionMs: RETENTION_MS,
      readsPerSecond: 4 * keys,
    });
    const startedAt = performance.now();
    expect(await audit.cleanup()).toEqual(CLEAN);
    expect(performance.now() - startedAt).toBeGreaterThan(200);
    connection.disconnect();
  });

  it('finds nothing to do in undamaged data, and sets the expiry of each key that lost it, each counted once', async () => {
    const stream = newStream();
    const { id } = await ended(stream);
    await pod.engine.ask({
      tenant: stream.tenant,
      idempotencyKey: 'once',
      input: {
        userId: stream.userId,
        streamRequestId: 'mine',
        mode: 'url',
        url: 'https://a.example',
        message: 'Look.',
        timeoutSeconds: 60,
      },
    });
    await pod.backend.limits.take('answers', stream, { points: 10, windowSeconds: 10 });
    await pod.backend.limits.hold('streams', { subject: stream, place: 'here' }, 10, 10_000);
    const open = await asked();
    expect(await pod.audit.cleanup()).toEqual(CLEAN);
    const expiring = ((await command('KEYS', '*')) as string[]).filter((key) => !key.includes(open.id));
    const persisted = await Promise.all(expiring.map((key) => command('PERSIST', key)));
    const planted = expiring.filter((_, at) => persisted[at] === 1);
    // The row and its history, two feeds, the claims on two streams and a key, two budgets, the bytes of two inboxes,
    // the names of one person. People of one bucket share the list of their tenant.
    expect(planted.filter((key) => !key.includes(':listed-'))).toHaveLength(12);
    expect(await pod.audit.cleanup()).toEqual({ ...CLEAN, removed: planted.length });
    expect(await command('PTTL', elicitationKey(id))).toBeGreaterThan(0);
    expect(await command('PTTL', feedKey(stream))).toBeGreaterThan(0);
    expect(await command('PTTL', elicitationKey(open.id))).toBe(-1);
    expect(await pod.audit.cleanup()).toEqual(CLEAN);
  });

  it('removes history of deleted rows without counting it as damage', async () => {
    const owner = newOwner();
    const gone = await ended(owner);
    const kept = await ended(owner);
    await command('DEL', elicitationKey(gone.id));
    expect(await pod.audit.cleanup()).toEqual(CLEAN);
    expect(await command('ZRANGE', historyKey(owner), 0, -1)).toEqual([kept.id]);
  });

  it('removes deliveries that processes of earlier versions have ended, and none that is outstanding', async () => {
    const { outbox } = pod.backend;
    const { tenant } = newOwner();
    const tasks = ['one', 'two', 'three'].map((subject) => ({ kind: 'letter', subject, bucket: 7 }));
    for (const task of tasks) await outbox.add(task, tenant);
    await command('ZREM', outboxKey(7, 'letter'), 'letter two', 'letter three');
    expect(await pod.audit.cleanup()).toEqual(CLEAN);
    expect(await command('ZRANGE', tenantListKey('deliveries', tenant, 7), 0, -1)).toEqual(['letter one']);
    expect(await command('HKEYS', outboxTriesKey(7))).toEqual(['letter one tenant']);
  });

  it('leaves no key after the retention', async () => {
    const brief = await startTestPod({ location: single(redis.url), retentionMs: 1_000 });
    try {
      const owner = newOwner();
      const outstay = async () => {
        const { row } = await askQuestion(brief.engine, owner);
        await answerQuestion(brief.engine, owner, row.id, 'decline');
        return Number(await command('PERSIST', elicitationKey(row.id)));
      };
      const planted = await Promise.all(Array.from({ length: 10 }, outstay));
      await waitUntil(async () => (await command('EXISTS', historyKey(owner))) === 0, {
        what: 'the history to leave',
      });
      // What outstayed its retention goes at once.
      const removed = planted.reduce((a, b) => a + b);
      expect(await brief.audit.cleanup()).toEqual({ ...CLEAN, removed });
      const keys = (await command('KEYS', '*')) as string[];
      // What is armed stays until that deadline has passed, names as long as feeds, and counted bytes as long as a question
      // that was open then could have been.
      expect(keys.filter((key) => !/:(feed|claim|names|armed|inbox-bytes)\b/.test(key))).toEqual([]);
    } finally {
      await brief.close();
    }
  });
});

describe('during asks and answers', () => {
  it('decides on the current row, not on the one it read before', async () => {
    const { id, owner } = await asked();
    const connection = connectCommands(single(redis.url));
    await waitUntil(() => connection.status === 'ready', { what: 'the connection' });
    const rows = createRowAudit(connection, RETENTION_MS);
    const inbox = { key: inboxKey(owner), lists: 'createdAt' } as const;
    // As an audit would that saw the row just before it was asked, and its inbox just after.
    expect(await rows.repair(id, [inbox])).toBe(0);
    expect(await command('ZCARD', inbox.key)).toBe(1);
    await answerQuestion(pod.engine, owner, id, 'decline');
    // And one that saw it open just before it ended.
    expect(await rows.repair(id, [inbox])).toBe(0);
    expect(await command('ZCARD', inbox.key)).toBe(0);
    connection.disconnect();
  });

  it('changes no correct entry and removes no open row', async () => {
    const owners = Array.from({ length: 4 }, newOwner);
    const open: string[] = [];
    let auditing = true;
    const ask = async (owner: Owner) => {
      for (let round = 0; auditing; round += 1) {
        const { row } = await askQuestion(pod.engine, owner);
        if (round % 3 === 0) open.push(row.id);
        else await answerQuestion(pod.engine, owner, row.id, 'decline');
        await sleep(20);
      }
    };
    const load = Promise.all(owners.map(ask));
    const repaired: number[] = [];
    const removed: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      repaired.push((await pod.audit.indexCheck()).repaired);
      const report = await pod.audit.cleanup();
      removed.push(report.removed + report.repaired);
    }
    auditing = false;
    await load;
    expect({ repaired, removed }).toEqual({ repaired: [0, 0, 0], removed: [0, 0, 0] });
    expect(await pod.audit.indexCheck()).toMatchObject({ open: open.length, repaired: 0 });
    const listed = await Promise.all(
      owners.map((owner) => pod.engine.list({ owner, statuses: ['pending'], limit: 1_000 })),
    );
    expect(listed.flatMap(({ rows }) => rows.map(({ id }) => id)).sort()).toEqual(open.sort());
  });

  it('repairs damage during the traffic, once', async () => {
    const damaged = await Promise.all(Array.from({ length: 10 }, () => asked()));
    let auditing = true;
    const load = (async () => {
      while (auditing) await Promise.all(damaged.map(({ owner }) => ended(owner)));
    })();
    await Promise.all(damaged.map(({ id, owner }) => command('ZREM', deadlinesKey(bucketOf(owner)), id)));
    const first = await Promise.all([pod.audit.cleanup(), pod.audit.cleanup()]);
    auditing = false;
    await load;
    expect(first.map(({ repaired }) => repaired).reduce((a, b) => a + b)).toBe(damaged.length);
    expect(await pod.audit.indexCheck()).toMatchObject({ open: damaged.length, repaired: 0 });
  });
});

describe('maintenance under a lease', () => {
  const exclusive = { everyMs: 60_000, signal: new AbortController().signal };

  /** The lease as two workers have it. */
  async function openWorkers(leaseMs?: number) {
    const connections = [connectCommands(single(redis.url)), connectCommands(single(redis.url))];
    onTestFinished(() => {
      for (const connection of connections) connection.disconnect();
    });
    await waitUntil(() => connections.every(({ status }) => status === 'ready'), { what: 'the connections' });
    return connections.map((connection) =>
      createExclusive(connection, leaseMs === undefined ? {} : { leaseMs }),
    );
  }

  it('runs on one worker at a time, and once in its period', async () => {
    const [one, other] = await openWorkers(4_000);
    const started: string[] = [];
    let finish = () => {};
    const first = one?.({ ...exclusive, name: 'long' }, async () => {
      started.push('one');
      await new Promise<void>((resolve) => (finish = resolve));
      return 'done';
    });
    await waitUntil(() => started.length === 1, { what: 'the work' });
    const again = () =>
      other?.({ ...exclusive, name: 'long' }, async () => {
        started.push('other');
        return 'done again';
      });
    // A lease of the same length that nobody renews.
    await command('SET', auditLeaseKey('control'), 'a worker that died', 'PX', 4_000);
    await waitUntil(async () => (await command('EXISTS', auditLeaseKey('control'))) === 0, {
      what: 'the other lease to lapse',
    });
    expect(await again()).toBeUndefined();
    finish();
    expect(await first).toBe('done');
    expect(await again()).toBeUndefined();
    expect(started).toEqual(['one']);
  });

  it('is repeated by another worker when it failed, or its worker died', async () => {
    const [one, other] = await openWorkers(300);
    const run = (by: typeof one, name: string, work: () => Promise<string>) =>
      by?.({ ...exclusive, name }, work);
    await expect(run(one, 'fails', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(await run(other, 'fails', async () => 'done')).toBe('done');
    await command('SET', auditLeaseKey('dies'), 'a worker that died', 'PX', 600_000);
    expect(await run(other, 'dies', async () => 'done')).toBeUndefined();
    await command('PEXPIRE', auditLeaseKey('dies'), 1);
    await waitUntil(async () => (await run(other, 'dies', async () => 'done')) === 'done', {
      what: 'the lease',
    });
  });

  it('is aborted when the lease is lost', async () => {
    const [one] = await openWorkers(150);
    const aborted = one?.({ ...exclusive, name: 'lost' }, async (signal) => {
      await command('SET', auditLeaseKey('lost'), 'another worker');
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    await expect(aborted).rejects.toThrow('another worker');
    expect(await command('GET', auditLeaseKey('lost'))).toBe('another worker');
  });
});
