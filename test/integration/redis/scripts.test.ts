import type { Owner, StreamRef } from '@parley/core/domain/ids';
import type { Engine } from '@parley/shared/elicitations/engine';
import { SUBSCRIBING_KINDS } from '@parley/shared/ports/delivery/subscriptions';
import { connectCommands } from '@parley/shared/redis/client/connect';
import { loadScript } from '@parley/shared/redis/client/script';
import { pageEntryKey } from '@parley/shared/redis/pages/keys';
import { recordKey } from '@parley/shared/redis/records/records';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engineOn } from '../../harness/engines/engines.ts';
import type { Pods } from '../../harness/engines/pods.ts';
import { answerQuestion, askQuestion, newOwner, newStream } from '../../harness/engines/questions.ts';
import { openRedisPods } from '../../harness/engines/redis-pods.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { HELLO, textWrite, turnOf } from '../../harness/engines/turn-writes.ts';
import { watchCommands } from '../../harness/redis/redis-monitor.ts';
import { type RedisServer, startRedis } from '../../harness/redis/redis-server.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { single } from '../../harness/worker/setup.ts';

let server: RedisServer;
let redis: Redis;

beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

describe('the Lua scripts', () => {
  it('are sent again when the server has lost them', async () => {
    const commands = connectCommands({ kind: 'single', url: server.url });
    await waitUntil(() => commands.status === 'ready', { what: 'the connection' });
    const claim = loadScript(commands, 'client/claim');
    const read = loadScript(commands, 'client/read-hash');
    await redis.hset('parley:{b00.0}:test', 'field', 'value');
    for (let round = 0; round < 2; round += 1) {
      expect(await claim(['parley:{b00.0}:claim:test'], ['value', 60_000])).toBe('value');
      const [now, ...fields] = (await read(['parley:{b00.0}:test'], [])) as [number, ...string[]];
      expect(now).toBeGreaterThan(Date.now() - 3_600_000);
      expect(fields).toEqual(['field', 'value']);
      await redis.script('FLUSH');
    }
    commands.disconnect();
  });
});

it('what hosted pages keep has a time to live, also once it was taken', async () => {
  const pods = await openRedisPods(single(server.url), ROOMY);
  const name = { family: 'flow', id: 'flow' } as const;
  await pods.backend.pages.put(name, 'one', 3_600_000);
  await pods.backend.pages.take(name, 'anybody');
  expect(await redis.pttl(pageEntryKey(name))).toBeGreaterThan(0);
  await pods.close();
});

it('a record that is renewed by its reads stays long enough, and few of the reads write', async () => {
  const pods = await openRedisPods(single(server.url), ROOMY);
  const { mcp } = pods.backend.ownerRecords;
  const owner = newOwner();
  const expiry = () => redis.pexpiretime(recordKey(owner, 'session'));
  await mcp.putIfAbsent(owner, 'session', 'value', 60_000);
  const now = await mcp.now(owner);
  await mcp.read(owner, 'session', 3_600_000);
  const first = await expiry();
  expect(first).toBeGreaterThanOrEqual(now + 3_600_000);
  await waitUntil(async () => (await mcp.now(owner)) > now, { what: 'a later read' });
  for (let reads = 0; reads < 3; reads += 1) await mcp.read(owner, 'session', 3_600_000);
  expect(await expiry()).toBe(first);
  await mcp.read(owner, 'session', 7_200_000);
  expect(await expiry()).toBeGreaterThan(first + 3_000_000);
  await pods.close();
});

it('the scripts of a turn touch no key that they do not declare', async () => {
  const pods = await openRedisPods(single(server.url), ROOMY);
  const { runs, subscriptions } = pods.backend;
  const engine = engineOn(pods.backend);
  let declared: readonly string[] = [];
  const undeclared = new Set<string>();
  let scripts = 0;
  const stop = await watchCommands(server.url, ([name = '', ...args], isOfScript) => {
    if (isOfScript) {
      const [key = ''] = args;
      if (name !== 'TIME' && name !== 'PUBLISH' && !declared.includes(key)) undeclared.add(`${name} ${key}`);
    } else if (/^eval/i.test(name)) {
      scripts += 1;
      declared = args.slice(2, 2 + Number(args[1]));
    }
  });
  const turn = turnOf(newOwner());
  await runs.begin(turn);
  for (const kind of SUBSCRIBING_KINDS) await subscriptions.add(turn, kind, 60_000);
  const { row } = await askQuestion(engine, turn);
  await runs.write(turn, { term: 1, firstSeq: 2, events: [], detach: { questions: [row.id], runs: [] } });
  await answerQuestion(engine, turn, row.id, 'decline');
  await askQuestion(engine, turn);
  expect(await runs.takeOver(turn, 2, 'pod-b')).toBe(3);
  await runs.write(turn, { ...textWrite(2, 3), term: 3, end: { status: 'finished', messages: [HELLO] } });
  await waitUntil(() => scripts >= 7, { what: 'all scripts' });
  stop();
  expect([...undeclared]).toEqual([]);
  await pods.close();
});

describe('the commands that a question costs Redis', () => {
  let pods: Pods;
  let engine: Engine;
  let other: Engine;
  beforeAll(async () => {
    pods = await openRedisPods(single(server.url), ROOMY);
    engine = engineOn(pods.backend);
    other = engineOn(pods.second);
  });
  afterAll(async () => {
    await pods.close();
  });

  /** How often Redis runs some commands while `run` runs. */
  async function callsOf(run: () => Promise<unknown>): Promise<Record<string, number>> {
    await redis.config('RESETSTAT');
    await run();
    const stats = await redis.info('commandstats');
    const count = (name: string) =>
      Number(new RegExp(`cmdstat_${name}:calls=([0-9]+)`).exec(stats)?.[1] ?? 0);
    return {
      scripts: count('evalsha'),
      reads: count('hgetall'),
      appends: count('xadd'),
      feedReads: count('xrevrange'),
    };
  }

  async function askAndAnswer(stream: Owner & Partial<StreamRef>, answering = engine): Promise<void> {
    const { row } = await askQuestion(engine, stream);
    await answerQuestion(answering, stream, row.id, 'decline');
  }

  const ALONE = { scripts: 2, reads: 0, appends: 0, feedReads: 0 };

  it('are one script to ask and one to answer, and nothing for a feed of its own', async () => {
    await askAndAnswer(newOwner());
    expect(await callsOf(() => askAndAnswer(newOwner()))).toEqual(ALONE);
  });

  it('are one read more where another pod takes the answer', async () => {
    await askAndAnswer(newOwner(), other);
    expect(await callsOf(() => askAndAnswer(newOwner(), other))).toEqual({ ...ALONE, reads: 1 });
  });

  it('are, on a stream request that the pod has used, two events more and one read of the feed', async () => {
    const stream = newStream();
    await askAndAnswer(stream);
    expect(await callsOf(() => askAndAnswer(stream))).toEqual({ ...ALONE, appends: 2, feedReads: 1 });
  });

  it('are one script for the budgets of an answer', async () => {
    const { limits } = pods.backend;
    const owner = newOwner();
    const rate = { points: 2, windowSeconds: 600 };
    const takeBoth = () => Promise.all(['writes', 'answers'].map((limit) => limits.take(limit, owner, rate)));
    expect(await callsOf(takeBoth)).toMatchObject({ scripts: 1 });
    await limits.take('answers', owner, rate);
    expect((await takeBoth()).map(({ allowed }) => allowed)).toEqual([true, false]);
  });

  it('are none for a call whose budget is known to be used up, whether points are taken ahead or not', async () => {
    const { limits } = pods.backend;
    const owner = newOwner();
    const rates = [1, 2, 1].map((points, at) => ({
      points,
      windowSeconds: 600,
      ...(at === 2 && { batch: 3 }),
    }));
    const takeAll = () => Promise.all(rates.map((rate, at) => limits.take(`limit ${at}`, owner, rate)));
    for (let round = 0; round < 3; round += 1) await takeAll();
    const calls = await callsOf(async () => {
      for (const verdict of await takeAll()) {
        expect(verdict).toMatchObject({ allowed: false, retryAfterSeconds: expect.any(Number) });
        expect('retryAfterSeconds' in verdict && verdict.retryAfterSeconds).toBeGreaterThan(500);
      }
    });
    expect(calls).toMatchObject({ scripts: 0 });
    expect(limits.isUsedUp('limit 0', owner)).toBe(true);
    await limits.reset('limit 0', owner);
    expect(limits.isUsedUp('limit 0', owner)).toBe(false);
    expect((await takeAll()).map(({ allowed }) => allowed)).toEqual([true, false, false]);
  });

  it('are none for a turn of a person whose tokens are known to be used up', async () => {
    const chatQuotas = { ...ROOMY.chatQuotas, tokensMax: 1 };
    const small = await openRedisPods(single(server.url), { ...ROOMY, chatQuotas });
    try {
      const { runs } = small.backend;
      const owner = newOwner();
      const first = turnOf(owner, 'first');
      expect(await runs.begin(first)).toMatchObject({ type: 'begun' });
      const step = { messages: [], finishReason: 'stop', inputTokens: 1 };
      const notes = [{ type: 'step', index: 1, step } as const];
      await runs.write(first, { term: 1, number: 1, firstSeq: 2, events: [], notes });
      const overQuota = { type: 'over-quota', of: 'user', quota: 'tokens' };
      expect(await runs.begin(turnOf(owner, 'next'))).toMatchObject(overQuota);
      const calls = await callsOf(async () => {
        const refused = await runs.begin(turnOf(owner, 'next'));
        expect(refused).toMatchObject(overQuota);
        expect('retryInMs' in refused && refused.retryInMs).toBeGreaterThan(600_000);
      });
      expect(calls).toMatchObject({ scripts: 0 });
      // Under a key, the turn may have begun earlier.
      const keyed = { ...turnOf(owner, 'next'), request: { digest: 'digest', nonce: 'nonce' } };
      expect(await callsOf(() => runs.begin(keyed))).toMatchObject({ scripts: 1 });
    } finally {
      await small.close();
    }
  });
});
