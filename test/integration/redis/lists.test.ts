import { bucketOf, formatOwnerPath } from '@parley/core/domain/ids';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { Backend } from '@parley/shared/ports/backend';
import { createRedisBackend } from '@parley/shared/redis/backend';
import {
  inboxKey,
  outboxKey,
  outboxTriesKey,
  ownedBy,
  tenantListKey,
} from '@parley/shared/redis/client/keys';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadQuestions } from '../../../services/api/src/surfaces/admin/load.ts';
import { readAdminPage } from '../../../services/api/src/surfaces/admin/page.ts';
import { engineOn } from '../../harness/engines/engines.ts';
import { expectRefusal } from '../../harness/engines/observe.ts';
import { answerQuestion, askQuestion, newOwner, newStream } from '../../harness/engines/questions.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { textWrite, turnOf } from '../../harness/engines/turn-writes.ts';
import { paced } from '../../harness/pace.ts';
import { sized } from '../../harness/proof-size.ts';
import { type RedisServer, startRedis } from '../../harness/redis/redis-server.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const QUESTIONS = 300;
/** Questions of other tenants. */
const OTHERS = sized(3_000, 1_000);

let server: RedisServer;
let redis: Redis;
let backend: Backend;
let engine: Engine;
beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
  const settings = { ...ROOMY, openBytesPerUserMax: 2_000 };
  backend = createRedisBackend({ location: { kind: 'single', url: server.url }, settings, timerQueues: 1 });
  await waitUntil(async () => (await backend.health()).subscription, { what: 'the backend' });
  engine = engineOn(backend);
});
afterAll(async () => {
  await backend.close();
  redis.disconnect();
  await server.stop();
});

/** Asks a few at a time, so that Redis and this process have replied to each within the time of a command, also where both are starved. */
async function askMany(count: number, ask: (at: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < count; from += 20)
    await Promise.all(Array.from({ length: Math.min(20, count - from) }, (_, at) => ask(from + at)));
}

/** Scripts that Redis has run, without those that run within them. */
async function countScripts(): Promise<number> {
  return (await countCommands()).get('evalsha') ?? 0;
}

/** How often Redis has executed each command, within scripts, too. */
async function countCommands(): Promise<ReadonlyMap<string, number>> {
  const lines = (await redis.info('commandstats')).matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm);
  return new Map([...lines].map(([, name = '', calls]) => [name, Number(calls)]));
}

describe('on Redis, a list', () => {
  it('is one script, however many rows its filter leaves out', async () => {
    const pods = createRedisBackend({
      location: { kind: 'single', url: server.url },
      settings: ROOMY,
      timerQueues: 1,
    });
    try {
      await waitUntil(async () => (await pods.health()).subscription, { what: 'the backend' });
      const roomy = engineOn(pods);
      const owner = newOwner();
      await askMany(QUESTIONS, (at) =>
        askQuestion(roomy, owner, { conversationId: at === 7 ? 'seven' : 'others' }),
      );
      const before = await countScripts();
      const none = await roomy.list({ owner, statuses: ['pending'], conversationId: 'nope', limit: 50 });
      expect([none.rows, none.nextCursor]).toEqual([[], undefined]);
      const one = await roomy.list({ owner, conversationId: 'seven', limit: 50 });
      expect([one.rows.length, one.nextCursor]).toEqual([1, undefined]);
      expect((await countScripts()) - before).toBe(2);
    } finally {
      await pods.close();
    }
  });

  it('of records leaves with its last member, also after one that would have stayed longer was removed', async () => {
    const owner = newOwner();
    const { slack } = backend.ownerRecords;
    const list = ownedBy(owner, 'slack-records');
    await slack.putIfAbsent(owner, 'short', 'x', 1_000_000);
    await slack.putIfAbsent(owner, 'long', 'x', 9_000_000);
    await slack.remove(owner, 'long');
    expect(await redis.pttl(list)).toBeLessThanOrEqual(1_000_000);
    await slack.remove(owner, 'short');
    expect(await redis.exists(list)).toBe(0);
  });

  it('finds rows of earlier versions by their conversation', async () => {
    const owner = newOwner();
    const { row } = await askQuestion(engine, owner, { conversationId: 'old' });
    const [key] = await redis.keys(`*elicitation:${row.id}`);
    await redis.hdel(key ?? '', 'conversationId');
    expect((await engine.list({ owner, conversationId: 'old', limit: 5 })).rows).toHaveLength(1);
  });
});

describe('on Redis, the lists of a tenant', () => {
  /** How often Redis ran each command, those of scripts included, without those that come by themselves. */
  async function countCommands(): Promise<number> {
    const stats = (await redis.info('commandstats')).matchAll(/cmdstat_(\w+):calls=(\d+)/g);
    const ofLists = new Set([
      'zrange',
      'hgetall',
      'hmget',
      'hget',
      'zscore',
      'zadd',
      'zrem',
      'evalsha',
      'eval',
      'scan',
      'time',
    ]);
    return [...stats].reduce((sum, [, name = '', calls]) => sum + (ofLists.has(name) ? Number(calls) : 0), 0);
  }

  it('cost as much as where the tenant is alone, whatever others store', async () => {
    const { tenant } = newOwner();
    const small = Array.from({ length: 20 }, (_, at) => ({ tenant, userId: `user-${at}` }));
    for (const owner of small) await askQuestion(engine, owner);
    async function costOfPage(): Promise<number> {
      const before = await countCommands();
      const page = await readAdminPage(backend.tenantLists, {
        slice: { tenant, kind: 'elicitations', state: 'open', order: 'newest' },
        limit: 50,
        load: (ids) => loadQuestions(backend, tenant, ids),
        hasEnded: ({ row }) => row.settledAt !== undefined,
        keeps: () => true,
      });
      expect(page.items).toHaveLength(small.length);
      return (await countCommands()) - before;
    }
    // What runs by itself only adds to one of them.
    const cost = async () => Math.min(await costOfPage(), await costOfPage(), await costOfPage());
    const alone = await cost();
    await askMany(OTHERS, (at) => askQuestion(engine, { tenant: `other-${at % 100}`, userId: `user-${at}` }));
    const among = await cost();
    expect(alone).toBeGreaterThan(64);
    expect(among).toBeLessThanOrEqual(alone * 1.1);
  });

  it('lose a hundred entries at most with one end, which holds Redis for no longer', async () => {
    const owner = newOwner();
    const key = tenantListKey('turns', owner.tenant, bucketOf(owner));
    await redis.zadd(key, ...Array.from({ length: 250 }, (_, at) => [-1 - at, `old-${at}`]).flat());
    const run = turnOf(owner, newStream(owner).streamRequestId);
    await backend.runs.begin(run);
    await backend.runs.write(run, textWrite(2, 3, { end: { status: 'finished', messages: [] } }));
    expect(await redis.zcard(key)).toBe(151);
    expect(await redis.zscore(key, 'old-0')).toBe(null);
    expect(await redis.zscore(key, 'old-249')).toBe('-250');
  });

  it('lose what ended before the retention with later ends, and leave with the last record', async () => {
    const { tenant } = newOwner();
    const brief = createRedisBackend({
      location: { kind: 'single', url: server.url },
      settings: { ...ROOMY, retentionMs: 1_000 },
      timerQueues: 1,
    });
    try {
      await waitUntil(async () => (await brief.health()).subscription, { what: 'the backend' });
      const briefly = engineOn(brief);
      const owner = { tenant, userId: 'one' };
      const key = tenantListKey('elicitations', tenant, bucketOf(owner));
      const endOne = async () => {
        const { row } = await askQuestion(briefly, owner, { timeoutSeconds: paced(2) });
        await answerQuestion(briefly, owner, row.id, 'decline');
        return row.id;
      };
      const first = await endOne();
      // Each end removes what is too old with a chance of one in sixteen.
      await waitUntil(async () => (await endOne()) !== first && (await redis.zscore(key, first)) === null, {
        what: 'the first one to leave',
      });
      // On a slow machine it has left by now.
      expect(await redis.pttl(key)).not.toBe(-1);
      await waitUntil(async () => (await redis.exists(key)) === 0, { what: 'the list to leave' });
    } finally {
      await brief.close();
    }
  });
});

describe('on Redis, the bytes of open questions', () => {
  it('are counted anew before a question is refused, because an earlier version did not count', async () => {
    const owner = newOwner();
    const { row } = await askQuestion(engine, owner);
    const key = inboxKey(owner).replace(':inbox:', ':inbox-bytes:');
    expect(Number(await redis.get(key))).toBeGreaterThan(100);
    await redis.set(key, 1_000_000, 'KEEPTTL');
    await askQuestion(engine, owner);
    expect(Number(await redis.get(key))).toBeLessThan(2_000);
    expect(await redis.pttl(key)).toBeGreaterThan(0);
    await answerQuestion(engine, owner, row.id, 'decline');
  });

  it.each([
    ['while another one is open, where the counter has lapsed', 1, undefined],
    ['where nothing is open, whatever the counter says', 0, 1_000_000],
  ])('are counted anew %s', async (_when, open, counter) => {
    const owner = newOwner();
    const key = inboxKey(owner).replace(':inbox:', ':inbox-bytes:');
    const { row } = await askQuestion(engine, owner);
    const one = Number(await redis.get(key));
    if (open === 0) await answerQuestion(engine, owner, row.id, 'decline');
    if (counter === undefined) await redis.del(key);
    else await redis.set(key, counter);
    await askQuestion(engine, owner);
    expect(Number(await redis.get(key))).toBe((open + 1) * one);
    expect(await redis.pttl(key)).toBeGreaterThan(0);
  });

  it('are never fewer than the counter says, so that ends need not count: many in turn are asked, and too many at once are not', async () => {
    const owner = newOwner();
    for (let turn = 0; turn < 20; turn += 1) {
      const { row } = await askQuestion(engine, owner);
      await askQuestion(engine, owner).then((other) =>
        answerQuestion(engine, owner, other.row.id, 'decline'),
      );
      await answerQuestion(engine, owner, row.id, 'decline');
    }
    const refused = expectRefusal(Promise.all(Array.from({ length: 20 }, () => askQuestion(engine, owner))));
    expect((await refused).code).toBe('rate_limited');
  });
});

describe('on Redis, a commit', () => {
  // Each command within a script takes Redis about a microsecond: what is added here is paid by every question.
  // The last `exists` looks whether somebody watches the tenant.
  it.each([
    ['an ask', 'exists exists get hset pttl publish publish set time zadd zadd zadd zcard'],
    ['an answer', 'exists hmget hset pexpire pttl publish publish time zadd zadd zrem zrem'],
  ])('of %s executes these commands and no others', async (what, expected) => {
    const owner = newOwner();
    // The first end of a person gives the history its time to live.
    const first = await askQuestion(engine, owner);
    await answerQuestion(engine, owner, first.row.id, 'decline');
    const asked = what === 'an answer' ? (await askQuestion(engine, owner)).row : undefined;
    const before = await countCommands();
    await (asked === undefined
      ? askQuestion(engine, owner)
      : answerQuestion(engine, owner, asked.id, 'decline'));
    const after = await countCommands();
    const executed = [...after].flatMap(([name, calls]) =>
      Array<string>(calls - (before.get(name) ?? 0)).fill(name),
    );
    // Histories and lists are trimmed by chance.
    const apart = ['info', 'evalsha', 'ping', ...(asked === undefined ? [] : ['zcard', 'zrange'])];
    const counted = executed
      .filter((name) => !apart.includes(name))
      .sort()
      .join(' ');
    // A pod tests its subscription every ten seconds, and publishes a message for that.
    expect([expected, expected.replace('publish', 'publish publish')]).toContain(counted);
  });
});

describe('on Redis, the outbox', () => {
  it('hands a task out that a process of an earlier version took, deferred or noted, as soon as it is noted', async () => {
    const { outbox } = backend;
    const task = { kind: 'letter', subject: 'upgrade', bucket: 7 };
    const [tasks, tries] = [outboxKey(7, 'letter'), outboxTriesKey(7)];
    const later = Date.now() + 600_000;
    await outbox.add(task);
    // What it writes when it takes the task.
    await redis.multi().zadd(tasks, later, 'letter upgrade').hset(tries, 'letter upgrade', '17').exec();
    await outbox.add(task);
    expect(await outbox.takeOne(task, 600_000)).toMatchObject({ attempt: 1 });
    // What it writes when it defers the task.
    await redis.zadd(tasks, 'XX', later, 'letter upgrade');
    await outbox.add(task);
    expect(await outbox.takeOne(task, 600_000)).toMatchObject({ attempt: 1 });
    // What it writes when it notes the task.
    await redis.multi().hdel(tries, 'letter upgrade').zadd(tasks, Date.now(), 'letter upgrade').exec();
    const last = await outbox.takeOne(task, 600_000);
    if (last !== undefined) await outbox.done(last);
    expect(await redis.exists(tasks, tries)).toBe(0);
  });

  it('lists nothing that names a person who was erased, also where an earlier version ended it, or none here handles it', async () => {
    const { outbox, erasure } = backend;
    const owner = newOwner();
    const bucket = bucketOf(owner);
    const taskOf = (kind: string, { tenant, userId }: typeof owner) => ({
      kind,
      subject: `${formatOwnerPath({ tenant, userId })}/sr_1/0`,
      bucket,
    });
    for (const kind of ['letter', 'of-a-newer-version']) await outbox.add(taskOf(kind, owner), owner.tenant);
    const theirs = taskOf('letter', { ...owner, userId: 'another person' });
    await outbox.add(theirs, owner.tenant);
    // What an earlier version does at the end of a task.
    await redis.zrem(outboxKey(bucket, 'letter'), `letter ${formatOwnerPath(owner)}/sr_1/0`);
    await erasure.removeCounters(owner);
    const stays = `letter ${theirs.subject}`;
    expect(await redis.zrange(tenantListKey('deliveries', owner.tenant, bucket), '0', '-1')).toEqual([stays]);
    const fields = (await redis.hkeys(outboxTriesKey(bucket))).filter((field) =>
      field.includes(owner.tenant),
    );
    expect(fields).toEqual([`${stays} tenant`]);
    expect(await redis.exists(outboxKey(bucket, 'of-a-newer-version'))).toBe(0);
    await outbox.remove(theirs, owner.tenant);
  });
});
