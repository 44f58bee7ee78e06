import { bucketOf, formatStreamPath, type Owner } from '@parley/core/domain/ids';
import { A2A_PUSH } from '@parley/shared/delivery/a2a-push/store';
import { webhookTask } from '@parley/shared/delivery/deliver-webhook';
import { type Caller, keyIdOf } from '@parley/shared/domain/caller';
import { DETACHED, type RunRef } from '@parley/shared/domain/runs/run';
import { tenantListKey } from '@parley/shared/redis/client/keys';
import { createWorkerNotes } from '@parley/shared/redis/jobs/worker-notes';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OperatorAct } from '../../../services/api/src/http/proof/acts.ts';
import type { AdminDeps } from '../../../services/api/src/surfaces/admin/deps.ts';
import { serviceOwner } from '../../../services/api/src/turns/principal.ts';
import { call, expectProblem } from '../../harness/attacks/call.ts';
import { runCli } from '../../harness/cli/run.ts';
import { decideAs, requestApproval } from '../../harness/engines/approvals.ts';
import { describeOnRedis } from '../../harness/engines/describe-on-redis.ts';
import { engineOn } from '../../harness/engines/engines.ts';
import { answerQuestion, askQuestion, newOwner, newStream } from '../../harness/engines/questions.ts';
import { turnOf } from '../../harness/engines/turn-writes.ts';
import { ADMIN_TOKENS, adminKeyOf, serveAdmin } from '../../harness/http/admin.ts';
import { callLimitsOn } from '../../harness/http/call-limits.ts';
import { userToken } from '../../harness/tokens.ts';
import { elicit } from '../../harness/turns/setup.ts';
import { modelOf, SURE, worldOn } from '../../harness/turns/site.ts';
import { nextMillisecond, waitUntil } from '../../harness/wait-until.ts';

const model = modelOf(({ results }) => (results.length === 0 ? { calls: [SURE] } : { text: 'Done.' }));

const HELD_BY_NONE = 'It is detached: no pod holds it, and it goes on when what it waits for has ended.';

interface ListReply {
  readonly elicitations: readonly Record<string, unknown>[];
  readonly approvals: readonly Record<string, unknown>[];
  readonly turns: readonly Record<string, unknown>[];
  readonly deliveries: readonly Record<string, unknown>[];
  readonly nextCursor?: string;
}

await describeOnRedis('the admin API', (pods, url) => {
  // Each run has tenants of its own, on a Redis that other files may use.
  const { tenant } = newOwner();
  const alice: Owner = { tenant, userId: 'alice@example.com' };
  const bob: Owner = { tenant, userId: 'bob@example.com' };
  const stranger = newOwner();
  const engine = engineOn(pods.backend);
  const dead = new Set<string>();
  const acts: (OperatorAct & { readonly tenant: string; readonly key: string | undefined })[] = [];
  const links = new Set<string>();
  const limits = callLimitsOn(pods.second.limits);
  const redis = new Redis(url);
  const operator = adminKeyOf(alice, 'operate');
  const reader = adminKeyOf(alice, 'operate+read_content');
  const more = {
    heartbeats: {
      ...pods.second.heartbeats,
      alive: async (pod: string) => !dead.has(pod) && pods.second.heartbeats.alive(pod),
      // Pods of other files would fill the limit.
      leases: async () =>
        (await pods.second.heartbeats.leases(100_000)).filter(({ pod }) => pod.startsWith('api-')),
    },
    channel: { name: 'slack', isLinked: async ({ userId }: Owner) => links.has(userId) },
    onAct: (act: OperatorAct, caller: Caller) =>
      void acts.push({ ...act, tenant: caller.tenant, key: keyIdOf(caller) }),
  };
  let served: Awaited<ReturnType<typeof serveAdmin>>;

  beforeAll(async () => {
    served = await serveAdmin(pods.second, [alice, stranger], { more });
  });
  afterAll(() => {
    served.close();
    redis.disconnect();
  });
  beforeEach(() => {
    acts.length = 0;
  });

  const send = (...args: Parameters<typeof served.send>) => served.send(...args);
  const get = (path: string, token = operator) => send('GET', path, token);
  const list = async (path: string, token = operator) => {
    const reply = await get(path, token);
    expect(reply.status, reply.text).toBe(200);
    return reply.json as ListReply;
  };
  const reasonsOf = async (path: string) => ((await get(path)).json as { reasons: string[] }).reasons;

  /** The same API for an operator of another tenant, and how many rows each of its reads asks for. */
  async function countingSite(of: string, others: Partial<AdminDeps> = {}) {
    const reads: number[] = [];
    const records = {
      ...pods.second.records,
      readMany: (ids: readonly string[]) => {
        reads.push(ids.length);
        return pods.second.records.readMany(ids);
      },
    };
    const owner = { tenant: of, userId: '' };
    const site = await serveAdmin(pods.second, [owner], { more: { ...others, records } });
    const token = adminKeyOf(owner, 'operate');
    return { ...site, reads, token };
  }

  /** A turn of a new person of the tenant that asks, and is then detached. */
  async function detachedTurn() {
    const world = worldOn(model, { agents: { desk: { tools: [elicit] } } }, pods.backend, pods.second);
    const pod = world.pod();
    const conversation = {
      ...newOwner(),
      tenant,
      userId: `u-${newStream().streamRequestId}`,
      conversationId: 'talk',
    };
    const run = await pod.turns.begin({ ...world.saying('ask', conversation), delivery: 'detach' });
    await waitUntil(async () => (await world.standing(run))?.owner === DETACHED, {
      what: 'the turn to be detached',
    });
    const [question] = await world.open(conversation);
    const at = (what = '') => `/turns/${run.streamRequestId}${what}?userId=${encodeURIComponent(run.userId)}`;
    return { world, pod, run, question: question?.id ?? '', at };
  }

  describe('lists', () => {
    it('show what a tenant has over all users, by every filter, and never what was said', async () => {
      const { run, question } = await detachedTurn();
      const connect = await askQuestion(engine, alice, {
        mode: 'url',
        message: 'Connect the secret tracker',
        url: 'https://pages.example/secret',
        context: { trigger: 'credential_required', toolId: 'tracker', secretHint: 'secret' },
        tags: ['release 7', 'blue'],
      });
      const ended = await askQuestion(engine, bob, { message: 'A secret?' });
      await answerQuestion(engine, bob, ended.row.id, 'accept', { colour: 'red', note: 'secret' });
      const stream = newStream(bob);
      const approval = await requestApproval(engine, stream, {
        arguments: { booking: 'secret' },
        tags: ['nightly'],
      });
      await decideAs(engine, stream, approval.row.id, { decision: 'deny', reason: 'A secret reason' });
      await askQuestion(engine, stranger);

      const questions: [query: string, ids: string[]][] = [
        ['', [connect.row.id, question]],
        ['?order=oldest', [question, connect.row.id]],
        ['?state=ended', [ended.row.id]],
        ['?state=ended&status=declined,expired', []],
        ['?state=ended&surface=test', [ended.row.id]],
        ['?state=ended&surface=slack', []],
        ['?agent=desk', [question]],
        ['?trigger=credential_required', [connect.row.id]],
        ['?tool=tracker', [connect.row.id]],
        ['?tag=release%207', [connect.row.id]],
        ['?tag=release', []],
        [`?userId=${encodeURIComponent(alice.userId)}`, [connect.row.id]],
        [`?streamRequestId=${run.streamRequestId}`, [question]],
        ['?conversationId=talk', [question]],
        ['?olderThanSeconds=600', []],
        ['?youngerThanSeconds=600&limit=1', [connect.row.id]],
      ];
      for (const [query, ids] of questions) {
        const reply = await get(`/elicitations${query}`);
        const found = (reply.json as ListReply).elicitations.map(({ elicitationId }) => elicitationId);
        expect(found, query).toEqual(ids);
        expect(reply.text).not.toMatch(/secret(?!-|s)/i);
      }
      const denied = await get(
        '/approvals?state=ended&tool=bookings_cancel&agent=desk&surface=chat&tag=nightly',
      );
      expect((denied.json as ListReply).approvals).toEqual([
        expect.objectContaining({
          approvalId: approval.row.id,
          decision: 'deny',
          toolId: 'bookings',
          tags: ['nightly'],
        }),
      ]);
      expect(denied.text).not.toMatch(/secret/i);
      expect((await list('/approvals')).approvals).toEqual([]);
      const { turns } = await list(
        `/turns?status=detached&agent=desk&userId=${encodeURIComponent(run.userId)}`,
      );
      expect(turns).toEqual([
        expect.objectContaining({
          streamRequestId: run.streamRequestId,
          state: 'detached',
          userId: run.userId,
        }),
      ]);
      expect((await list('/turns?status=running,queued,orphaned')).turns).toEqual([]);

      const whole = await list('/elicitations?state=ended', reader);
      expect(whole.elicitations).toMatchObject([
        { elicitation: { message: 'A secret?', content: { note: 'secret' } } },
      ]);
      const read = await get(`/approvals/${approval.row.id}`, reader);
      expect(read.json).toMatchObject({ approval: { approval: { reason: 'A secret reason' } } });
    });

    it('are made into figures by agent, tool and person, estimates where there is much, by a bounded read', async () => {
      // Figures are kept for seconds, so that each part has a tenant of its own.
      const keys = await Promise.all(
        [5, 60].map(async (count) => {
          const owner = newOwner();
          const one = await askQuestion(engine, owner, { context: { trigger: 'agent' } });
          await answerQuestion(engine, owner, one.row.id, 'decline');
          await askQuestion(engine, owner);
          // One after another: each is to be decided within two seconds.
          for (let at = 0; at < count; at += 1) {
            const stream = newStream({ ...owner, userId: `u${at % 2}` });
            const { row } = await requestApproval(engine, stream);
            const decision = count === 5 && at === 0 ? 'deny' : 'approve';
            await decideAs(engine, stream, row.id, { decision });
          }
          return { count, owner };
        }),
      );
      for (const { count, owner } of keys) {
        const { reads, token, ...site } = await countingSite(owner.tenant);
        const send = (path: string) => call(site.url, { method: 'GET', path: `/v1/admin${path}`, token });
        try {
          const read = async (path: string) => {
            const reply = await send(path);
            expect(reply.status, reply.text).toBe(200);
            return reply.json as Record<string, unknown>;
          };
          const isSampled = count > 50;
          const counts = await read('/counts');
          expect(counts).toMatchObject({
            window: 'hour',
            elicitations: {
              open: { underOneMinute: 1, overOneHour: 0 },
              openByAgent: [{ agent: '(none)', underOneMinute: 1 }],
              ended: 1,
              outcomes: [{ trigger: 'agent', byStatus: { declined: 1 } }],
              answerSeconds: { p50: expect.any(Number), p95: expect.any(Number) },
              isSampled: false,
            },
            approvals: {
              ended: count,
              outcomes: [
                { trigger: 'approval', byStatus: isSampled ? { approved: 60 } : { approved: 4, denied: 1 } },
              ],
              isSampled,
            },
          });
          expect(reads.reduce((sum, rows) => sum + rows)).toBeLessThanOrEqual(52);
          const before = reads.length;
          expect(await read('/counts')).toEqual(counts);
          expect(reads).toHaveLength(before);
          const insight = { held: count, decidedWithinTwoSeconds: count, neverDenied: isSampled, expired: 0 };
          const byTool = { name: 'bookings_cancel', approvedShare: isSampled ? 1 : 0.8, ...insight };
          expect(await read('/insights?by=tool')).toMatchObject({ insights: [byTool], isSampled });
          expect(await read('/insights?window=day')).toMatchObject({
            insights: [{ name: 'desk', ...insight }],
          });
          expectProblem(await send('/insights?by=person'), 403, 'forbidden');
        } finally {
          site.close();
        }
      }
      const byPerson = (await get('/insights?by=person', reader)).json as { insights: { name: string }[] };
      expect(byPerson.insights.map(({ name }) => name)).toEqual([bob.userId]);
    });

    it('stand beside what runs, which a key with `admin` reads', async () => {
      const [pod, gone] = ['api-1', 'api-2'].map((name) => `${name}/${newStream().streamRequestId}`);
      await pods.backend.heartbeats.beat(`${pod}`, 60_000);
      await pods.backend.heartbeats.beat(`${gone}`, 1);
      const letter = {
        deliveryId: 'msg_1',
        elicitationId: 'el_1',
        attempts: 12,
        lastError: 'timeout',
      } as const;
      await pods.backend.deadLetters.add(tenant, letter);
      await pods.backend.deadLetters.add(stranger.tenant, letter);
      await waitUntil(async () => !(await pods.backend.heartbeats.alive(`${gone}`)), { what: 'the end' });
      const note = { aliveMs: 60_000, queues: ['timers-0'], running: ['cleanup'] };
      const rounds = new Map([['sweep', 2_000]]);
      const notes = ['worker-1', 'worker-2', 'worker-3', 'worker-4'].map((name) => ({
        name,
        notes: createWorkerNotes(redis, name),
      }));
      await Promise.all(notes.map((one) => one.notes.write({ ...note, name: one.name, rounds })));
      await notes.at(-1)?.notes.remove();
      const age = async (name: string, byMs: number) => {
        const key = 'parley:{timers-0}:workers';
        const written = JSON.parse((await redis.hget(key, name)) ?? '') as { at: number };
        await redis.hset(key, name, JSON.stringify({ ...written, at: written.at - byMs }));
      };
      await age('worker-2', 40_000);
      await age('worker-3', 3_700_000);
      await redis.hset('parley:{timers-0}:workers', 'of another build', 'text');
      const reply = await get('/installation', adminKeyOf(alice, 'admin'));
      expect(reply.status, reply.text).toBe(200);
      expect(reply.json).toMatchObject({
        pods: expect.arrayContaining([
          { name: 'api-1', isAlive: true },
          { name: 'api-2', isAlive: false },
        ]),
        queues: [
          { name: 'expiry', failed: 0 },
          { name: 'runs', failed: 0 },
        ],
        servers: [{ role: 'master', usedMemoryBytes: expect.any(Number) }],
        deadLetters: 1,
      });
      const { workers } = reply.json as { workers: { name: string; startedAt: string }[] };
      const [first, second, ...further] = workers.filter(({ name }) => /^worker-\d$/.test(name));
      expect([first, second, further]).toMatchObject([
        {
          name: 'worker-1',
          isAlive: true,
          queues: ['timers-0'],
          running: ['cleanup'],
          // The same clock for both, whatever that of the worker says.
          rounds: [
            { work: 'sweep', at: new Date(Date.parse(first?.startedAt ?? '') + 58_000).toISOString() },
          ],
        },
        { name: 'worker-2', isAlive: false, running: [] },
        [],
      ]);
      expect(await redis.hexists('parley:{timers-0}:workers', 'worker-3')).toBe(0);
      // A worker that begins forgets them, too: nobody may look for months.
      await age('worker-2', 3_700_000);
      await createWorkerNotes(redis, 'worker-5').write({ ...note, name: 'worker-5', rounds });
      expect(await redis.hexists('parley:{timers-0}:workers', 'worker-2')).toBe(0);
      expect(reply.text).not.toContain(stranger.tenant);
      expect((await get('/installation')).status).toBe(403);
    });

    it('are counted, by the age of what is open', async () => {
      const owner = stranger;
      const { row } = await askQuestion(engine, owner);
      await answerQuestion(engine, owner, row.id, 'decline');
      const { elicitations, approvals } = (await get('/overview', adminKeyOf(owner, 'operate')))
        .json as Record<string, Record<string, number>>;
      expect(elicitations).toMatchObject({
        endedLastHour: 1,
        openOverOneHour: 0,
        oldestOpenAt: expect.any(String),
      });
      expect(elicitations?.open).toBeGreaterThan(0);
      expect(approvals).toMatchObject({ open: 0, endedLastMinute: 0 });
      expect(approvals).not.toHaveProperty('oldestOpenAt');
    });

    it('go on behind each cursor, each row once, with a bound of the rows that a page reads', async () => {
      const owner = newOwner();
      const people = Array.from({ length: 450 }, (_, at) => ({
        tenant: owner.tenant,
        userId: `user-${at % 9}`,
      }));
      for (let from = 0; from < people.length; from += 50)
        await Promise.all(people.slice(from, from + 50).map((one) => askQuestion(engine, one)));
      const bounded = await countingSite(owner.tenant);
      const { reads } = bounded;
      const page = async (query: string) => {
        const path = `/v1/admin/elicitations${query}`;
        return (await call(bounded.url, { path, token: bounded.token })).json as ListReply;
      };
      try {
        for (const [query, counts, total] of [
          ['?limit=100', [100, 100, 100, 100, 50], 450],
          ['?limit=100&order=oldest', [100, 100, 100, 100, 50], 450],
          ['?trigger=nothing', [0, 0, 0], 0],
        ] as const) {
          const seen: unknown[] = [];
          const sizes: number[] = [];
          let cursor: string | undefined;
          do {
            reads.length = 0;
            const reply = await page(`${query}${cursor === undefined ? '' : `&cursor=${cursor}`}`);
            expect(reads.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(200);
            seen.push(...reply.elicitations.map(({ elicitationId }) => elicitationId));
            sizes.push(reply.elicitations.length);
            cursor = reply.nextCursor;
          } while (cursor !== undefined);
          expect([sizes, new Set(seen).size]).toEqual([counts, total]);
        }
        const exported = async (query: string, headers = {}) =>
          call(bounded.url, { path: `/v1/admin/elicitations?${query}`, token: bounded.token, headers });
        const csv = (await exported('format=csv')).text.split('\r\n');
        expect(csv[0]).toMatch(/^elicitationId,userId,streamRequestId,.*,tags,.*,settledAt$/);
        const lines = (await exported('limit=1', { accept: 'application/jsonl' })).text.split('\n');
        for (const rows of [csv.slice(1), lines])
          expect([rows.length, rows.at(-1), new Set(rows).size]).toEqual([451, '', 451]);
        // A cursor of a page goes on as an export.
        const { nextCursor } = await page('?limit=100');
        expect((await exported(`format=jsonl&cursor=${nextCursor}`)).text.split('\n')).toHaveLength(351);
        expectProblem(await exported('format=csv&cursor=wrong'), 400, 'invalid_request');
        expectProblem(await exported('format=xml'), 400, 'invalid_request');
      } finally {
        bounded.close();
      }
    });

    it('leave out what does not agree with its row, and mend its place', async () => {
      const owner: Owner = { tenant, userId: 'mended@example.com' };
      const key = tenantListKey('elicitations', tenant, bucketOf(owner));
      const [ended, gone] = [await askQuestion(engine, owner), await askQuestion(engine, owner)];
      await answerQuestion(engine, owner, ended.row.id, 'decline');
      // As pods of an earlier version leave it, and a loss of data.
      await redis.zadd(key, ended.row.createdAt, ended.row.id);
      const [row] = await redis.keys(`*:elicitation:${gone.row.id}`);
      await redis.del(row ?? '');
      // What no commit writes.
      const other = await askQuestion(engine, { ...stranger, userId: owner.userId });
      await redis.zadd(key, Date.now(), other.row.id);
      const query = `userId=${encodeURIComponent(owner.userId)}`;
      const open = (await list('/elicitations?limit=100')).elicitations;
      expect(open.filter(({ userId }) => userId === owner.userId)).toEqual([]);
      const { elicitations } = await list(`/elicitations?state=ended&${query}`);
      expect(elicitations).toMatchObject([{ elicitationId: ended.row.id, status: 'declined' }]);
      expect(await redis.zscore(key, gone.row.id)).toBeNull();
    });
  });

  describe('one record', () => {
    it('is read with its history, explained, and withdrawn; its turn goes on', async () => {
      const { world, run, question, at } = await detachedTurn();
      expect((await get(`/elicitations/${question}`)).json).toMatchObject({
        elicitation: { elicitationId: question, agent: 'desk', status: 'pending' },
        history: [{ event: 'elicitation-request', status: 'pending', revision: 1 }],
        isHistoryWhole: true,
      });
      const reasons = await reasonsOf(`/elicitations/${question}/why`);
      expect(reasons).toEqual([
        expect.stringMatching(/ was asked \d+ seconds? ago \(agent\) and has not answered\.$/),
        expect.stringMatching(/^It expires by itself at \d\d:\d\d:\d\d UTC/),
        expect.stringContaining('has no event stream open on any pod'),
        expect.stringContaining('of the agent desk began'),
        HELD_BY_NONE,
        expect.stringMatching(new RegExp(`^It has waited for ${question} \\(agent\\)`)),
      ]);
      await limits.stream(
        { kind: 'user', tenant, userId: run.userId },
        { stream: 'inbox', returns: false },
        () => undefined,
      );
      expect(await reasonsOf(at('/why'))).toContain(`${run.userId} has 1 event stream open: inbox.`);
      const env = { PARLEY_URL: served.url, PARLEY_TOKEN: operator };
      // Seconds may pass between two calls.
      const timeless = (reasons: readonly string[]) =>
        reasons.map((one) => one.replaceAll(/\d+ \w+(?= ago|, which)/g, ''));
      const told = await runCli(['why', run.streamRequestId, '--user', run.userId], env);
      expect(timeless(told.out.trim().split('\n')).slice(0, 3)).toEqual(
        timeless(await reasonsOf(at('/why'))).slice(0, 3),
      );
      const { out } = await runCli(['--json', 'why', question], env);
      expect(JSON.parse(out)).toEqual({ id: question, reasons: expect.arrayContaining([HELD_BY_NONE]) });
      const german = await runCli(['why', question], { ...env, LANG: 'de_DE.UTF-8' });
      expect(german.out).toMatch(/ wurde vor \d+ Sekunden? gefragt \(agent\) und hat nicht geantwortet\.$/m);

      const reply = await send('DELETE', `/elicitations/${question}`, operator, { reason: 'asked_twice' });
      expect(reply.json).toMatchObject({ status: 'withdrawn', reason: 'asked_twice' });
      expect(acts).toEqual([
        { act: 'withdraw', tenant, key: 'key-0', subject: question, reason: 'asked_twice' },
      ]);
      expect(await world.ended(run)).toBe('finished');
      expect((await get(`/elicitations/${question}`)).json).toMatchObject({
        history: [
          { status: 'pending' },
          { event: 'elicitation-resolved', status: 'withdrawn', reason: 'asked_twice' },
        ],
      });
      expect((await reasonsOf(`/elicitations/${question}/why`))[1]).toMatch(/with the reason asked_twice\.$/);
      const timeline = await get(at('/timeline'));
      expect(timeline.json).toMatchObject({
        conversationId: 'talk',
        runs: [{ status: 'finished', waits: [{ elicitationId: question, outcome: 'withdrawn' }] }],
      });
    });

    it('has its deadline moved, which its asker, its history and the log tell', async () => {
      const { row } = await askQuestion(engine, alice, { timeoutSeconds: 600 });
      const stream = newStream(alice);
      const approval = await requestApproval(engine, stream);
      for (const [path, one] of [
        [`/elicitations/${row.id}`, row],
        [`/approvals/${approval.row.id}`, approval.row],
      ] as const) {
        const expiresAt = new Date(one.expiresAt + 900_000).toISOString();
        const reply = await send('POST', `${path}/extend`, operator, { seconds: 900, reason: 'on_leave' });
        expect(reply.json).toMatchObject({ status: 'pending', expiresAt });
        expect((await get(path)).json).toMatchObject({
          history: [{ status: 'pending' }, { status: 'pending', revision: 2, expiresAt }],
        });
        for (const body of [{}, { seconds: 0 }, { seconds: 1.5 }, { seconds: 604_800 }])
          expectProblem(await send('POST', `${path}/extend`, operator, body), 400, 'invalid_request');
        expectProblem(
          await send('POST', `${path}/extend`, adminKeyOf(stranger, 'operate'), { seconds: 9 }),
          404,
          'not_found',
        );
        expect(acts.at(-1)).toEqual({
          act: 'extend',
          tenant,
          key: 'key-0',
          subject: one.id,
          seconds: 900,
          reason: 'on_leave',
        });
      }
      const serviceOfKey = { kind: 'service', tenant } as const;
      const seen = await engine.wait({ caller: serviceOfKey, id: row.id, timeoutMs: 1 });
      expect(seen.row.expiresAt).toBe(row.expiresAt + 900_000);
      await decideAs(engine, stream, approval.row.id, { decision: 'deny', reason: 'secret' });
      const late = await send('POST', `/approvals/${approval.row.id}/extend`, reader, { seconds: 9 });
      expectProblem(late, 409, 'already_settled');
      expect(late.text).not.toMatch(/secret/i);
      expect(acts).toHaveLength(2);
    });

    it('that has ended is not withdrawn, and the refusal shows nothing of it', async () => {
      const asked = await askQuestion(engine, alice, { message: 'A secret?' });
      await answerQuestion(engine, alice, asked.row.id, 'accept', { colour: 'red', note: 'secret' });
      const stream = newStream(alice);
      const approval = await requestApproval(engine, stream);
      await decideAs(engine, stream, approval.row.id, { decision: 'deny', reason: 'secret' });
      for (const path of [`/elicitations/${asked.row.id}`, `/approvals/${approval.row.id}`]) {
        const reply = await send('DELETE', path, reader);
        expectProblem(reply, 409, 'already_settled');
        expect(reply.text).not.toMatch(/secret/i);
      }
      expect(acts).toEqual([]);
    });

    it('an approval is withdrawn', async () => {
      const { row } = await requestApproval(engine, newStream(alice));
      const reply = await send('DELETE', `/approvals/${row.id}`);
      expect(reply.json).toMatchObject({ status: 'withdrawn', reason: 'withdrawn_by_operator' });
    });

    it('never shows the answer to a sensitive question, whatever the scope', async () => {
      const { row } = await askQuestion(engine, alice, { sensitive: true });
      await answerQuestion(engine, alice, row.id, 'accept', { colour: 'red', note: 'hidden' });
      const reply = await get(`/elicitations/${row.id}`, reader);
      expect(reply.json).toMatchObject({ elicitation: { elicitation: { message: 'Which colour?' } } });
      expect(reply.text).not.toContain('hidden');
      const history = [{ status: 'pending' }, { status: 'accepted', action: 'accept', surface: 'test' }];
      expect(reply.json).toMatchObject({ history });
    });

    it('is explained by its channel, and by its deliveries, which are made again', async () => {
      const { id, definition } = (
        await engine.ask({
          tenant,
          input: {
            userId: bob.userId,
            mode: 'form',
            message: '?',
            requestedSchema: { type: 'object', properties: {} },
            timeoutSeconds: 6_000,
          },
          notify: { channel: 'slack', afterSeconds: 1_200 },
        })
      ).row;
      const path = `/elicitations/${id}`;
      const outbox = { kind: 'slack', subject: id, bucket: bucketOf(definition) };
      await pods.backend.outbox.remove(outbox);
      expect((await reasonsOf(`${path}/why`)).at(-1)).toBe(
        `It is to be sent to slack, but ${bob.userId} is not linked there.`,
      );
      links.add(bob.userId);
      expect((await reasonsOf(`${path}/why`)).at(-1)).toMatch(
        /is linked to slack, which notifies them in 19 minutes\.$/,
      );

      expectProblem(await send('POST', `${path}/redeliver`, operator, { by: 'webhook' }), 404, 'not_found');
      expectProblem(
        await send('POST', `${path}/redeliver`, operator, { by: 'pigeon' }),
        400,
        'invalid_request',
      );
      await pods.backend.deadLetters.add(tenant, {
        deliveryId: `msg_${id}`,
        elicitationId: id,
        attempts: 10,
        lastError: 'status',
        lastStatus: 503,
      });
      expect((await reasonsOf(`${path}/why`)).at(-1)).toContain('was given up');
      for (const by of ['webhook', 'slack'])
        expect((await send('POST', `${path}/redeliver`, operator, { by })).json).toEqual({
          outstanding: true,
        });
      expect((await reasonsOf(`${path}/why`)).slice(-2)).toEqual([
        'The delivery webhook is due: if it stays, no worker runs.',
        'The delivery slack is due: if it stays, no worker runs.',
      ]);
      for (const kind of ['webhook', 'slack'])
        await pods.backend.outbox.remove({ kind, subject: id, bucket: bucketOf(definition) });
      expect(acts.map(({ act, reason }) => [act, reason])).toEqual([
        ['redeliver', 'webhook'],
        ['redeliver', 'slack'],
      ]);
    });
  });

  describe('a turn', () => {
    it('has its A2A updates delivered again, unless no process would ever do so', async () => {
      const { run, at } = await detachedTurn();
      const task = { kind: A2A_PUSH, subject: formatStreamPath(run), bucket: bucketOf(run) };
      const { outbox } = pods.backend;
      const { url, token, ...bare } = await countingSite(tenant, { pushHostOf: undefined });
      const path = `/v1/admin${at('/redeliver')}`;
      const refused = await call(url, { method: 'POST', path, token, body: { by: 'a2a' } });
      bare.close();
      expectProblem(refused, 400, 'invalid_request');
      expect(await outbox.find(task)).toBeUndefined();
      const reply = await send('POST', at('/redeliver'), operator, { by: 'a2a' });
      expect(reply.json).toEqual({ outstanding: true });
      expect(await outbox.find(task)).toMatchObject({ attempts: 0 });
      await outbox.remove(task);
    });

    it('has one outstanding delivery made again by its id, and none that is done or of another turn', async () => {
      const { run, at } = await detachedTurn();
      const { outbox } = pods.backend;
      const bucket = bucketOf(run);
      const step = { kind: 'slack', subject: `${formatStreamPath(run)}/step%201`, bucket };
      await outbox.add(step, tenant);
      const entry = await outbox.takeOne(step, 60_000);
      if (entry !== undefined) await outbox.again(entry, 60_000);
      expect(await outbox.find(step)).toMatchObject({ attempts: 1 });
      const again = (deliveryId: string) =>
        send('POST', at('/redeliver'), operator, { by: 'slack', deliveryId });
      const listed = (await list(`/deliveries?kind=slack&streamRequestId=${run.streamRequestId}`)).deliveries;
      expect(listed).toMatchObject([{ deliveryId: `${run.streamRequestId}/step%201` }]);
      expect((await again(`${listed[0]?.deliveryId}`)).json).toEqual({ outstanding: true });
      expect(await outbox.find(step)).toMatchObject({ attempts: 0 });
      for (const id of [
        `${run.streamRequestId}/step%202`,
        `${run.streamRequestId}x`,
        newStream().streamRequestId,
      ])
        expectProblem(await again(id), 404, 'not_found');
      await outbox.remove(step);
    });

    it('that is detached is stopped, and its question withdrawn', async () => {
      const { world, run, question, at } = await detachedTurn();
      const reply = await send('POST', at('/stop'));
      expect(reply.json).toMatchObject({ changed: true, turn: { streamRequestId: run.streamRequestId } });
      expect(await world.ended(run)).toBe('stopped');
      expect((await get(`/elicitations/${question}`)).json).toMatchObject({
        elicitation: { status: 'withdrawn', reason: 'run_stopped' },
      });
      expect((await send('POST', at('/stop'))).json).toMatchObject({
        changed: false,
        turn: { state: 'stopped' },
      });
      expect(acts.map(({ act }) => act)).toEqual(['stop']);
      expect((await reasonsOf(at('/why'))).at(0)).toMatch(/ and was stopped \d+ seconds? ago\.$/);
    });

    it('whose pod died is an orphan, and another pod takes it once it is resumed', async () => {
      const { world, run, at } = await detachedTurn();
      const orphan = { ...turnOf(run, 'lost', 'a-pod-that-died'), agent: 'desk' };
      await pods.backend.runs.begin(orphan);
      const query = `?userId=${encodeURIComponent(run.userId)}`;
      const path = `/turns/${orphan.streamRequestId}`;
      expect((await list(`/turns${query}&status=orphaned`)).turns).toMatchObject([
        { conversationId: 'lost' },
      ]);
      expect(await reasonsOf(`${path}/why${query}`)).toContainEqual(
        expect.stringMatching(/is gone: another one/),
      );
      expect((await send('POST', `${path}/resume${query}`)).json).toMatchObject({ changed: true });
      // It asks on the pod that took it.
      await waitUntil(async () => (await world.open({ ...orphan })).length === 2, { what: 'its question' });
      // A detached one looks at what it waits for, and is detached again.
      const { term = 0 } = (await world.standing(run)) ?? {};
      expect((await send('POST', at('/resume'))).json).toMatchObject({ changed: true });
      await waitUntil(
        async () => {
          const now = await world.standing(run);
          return now?.owner === DETACHED && now.term > term;
        },
        { what: 'the turn to be detached again' },
      );
      for (const one of [run, orphan] satisfies RunRef[]) {
        await send('POST', `/turns/${one.streamRequestId}/stop${query}`);
        expect(await world.ended(one)).toBe('stopped');
      }
      expect((await send('POST', at('/resume'))).json).toMatchObject({ changed: false });
    });

    it('of a service key is listed and read by the name of the key', async () => {
      const owner = serviceOwner(tenant, 'key-of-a-robot');
      const run = { ...owner, streamRequestId: 'sr_of-a-robot', conversationId: 'robot' };
      await pods.backend.runs.begin({ ...turnOf(owner, 'robot'), ...run });
      const { turns } = await list('/turns?conversationId=robot');
      expect(turns).toMatchObject([{ streamRequestId: 'sr_of-a-robot', key: 'key-of-a-robot' }]);
      expect(turns[0]).not.toHaveProperty('userId');
      const path = '/turns/sr_of-a-robot';
      expect((await get(`${path}?key=key-of-a-robot`)).json).toEqual(turns[0]);
      expect(await reasonsOf(`${path}/why?key=key-of-a-robot`)).toHaveLength(2);
      expectProblem(await get(`${path}?key=key-of-another`), 404, 'not_found');
    });

    it('of a delegate is not stopped by itself', async () => {
      const parent = { streamRequestId: 'sr_parent-of-a-delegate', toolCallId: 'call' };
      const run = { ...turnOf(alice, 'delegated'), parent };
      await pods.backend.runs.begin(run);
      const query = `?userId=${encodeURIComponent(alice.userId)}`;
      const problem = expectProblem(
        await send('POST', `/turns/${run.streamRequestId}/stop${query}`),
        400,
        'invalid_request',
      );
      expect(problem.detail).toContain(parent.streamRequestId);
    });
  });

  describe('deliveries', () => {
    /** A tenant with one delivery of each kind and state. Nothing takes them. */
    async function deliveriesOfTenant() {
      const one = newOwner();
      const two = { ...one, userId: 'two@example.com' };
      const { outbox, deadLetters } = pods.backend;
      const asking = engineOn(pods.backend, {
        settings: { webhooks: { hasSecret: () => true, mayCall: () => true } },
      });
      const ask = ({ tenant: of, userId }: Owner, more: { webhookUrl: string } | { notified: true }) =>
        asking.ask({
          tenant: of,
          input: {
            userId,
            mode: 'form',
            message: 'A hidden question?',
            requestedSchema: { type: 'object', properties: {} },
            timeoutSeconds: 6_000,
            ...('webhookUrl' in more && more),
          },
          ...('notified' in more && { notify: { channel: 'slack', afterSeconds: 1_200 } }),
        });
      const webhookUrl = 'https://hooks.example.com/hidden?token=hidden';
      const [notified, retried, dead] = [
        (await ask(two, { notified: true })).row.id,
        (await ask(one, { webhookUrl })).row.id,
        (await ask(two, { webhookUrl })).row.id,
      ];
      await nextMillisecond();
      await answerQuestion(asking, one, retried, 'decline');
      await nextMillisecond();
      const { streamRequestId } = turnOf(one);
      const subject = `${formatStreamPath({ ...one, streamRequestId })}/3`;
      const pushed = { kind: 'a2a-deliver', subject, bucket: bucketOf(one) };
      await outbox.add(pushed, one.tenant);
      await outbox.takeOne(pushed, 60_000);
      const entry = await outbox.takeOne(webhookTask(retried, bucketOf(one)), 60_000);
      if (entry !== undefined) await outbox.again(entry, 300_000, { code: 'status', status: 503 });
      const letter = { attempts: 10, lastError: 'timeout' } as const;
      await deadLetters.add(one.tenant, { deliveryId: `msg_${dead}`, elicitationId: dead, ...letter });
      const ofWebhook = { kind: 'webhook', target: 'hooks.example.com' };
      const views = {
        retried: {
          ...ofWebhook,
          deliveryId: `msg_${retried}`,
          state: 'retrying',
          elicitationId: retried,
          userId: one.userId,
          attempts: 1,
          lastError: 'status',
          lastStatus: 503,
        },
        pushed: {
          deliveryId: `${streamRequestId}/3`,
          kind: 'a2a',
          state: 'under_way',
          target: 'push-3.example.com',
          streamRequestId,
          userId: one.userId,
          attempts: 0,
        },
        notified: { kind: 'slack', state: 'waiting', elicitationId: notified, userId: two.userId },
        dead: { ...ofWebhook, state: 'dead', elicitationId: dead, ...letter },
      };
      const site = await countingSite(one.tenant, {
        pushHostOf: async (_task, slot) => `push-${slot}.example.com`,
        channel: { name: 'slack', isLinked: async () => true },
      });
      const request = (method: string, path: string, body?: unknown) =>
        call(site.url, {
          method,
          path: `/v1/admin${path}`,
          token: site.token,
          ...(body !== undefined && { body }),
        });
      const read = async (query: string) => {
        const reply = await request('GET', `/deliveries${query}`);
        expect(reply.status, reply.text).toBe(200);
        expect(reply.text).not.toContain('hidden');
        return reply.json as ListReply;
      };
      const redeliver = (id: string) => request('POST', `/elicitations/${id}/redeliver`, { by: 'webhook' });
      /** Tests share a Redis, where others would find what is left. */
      async function end() {
        site.close();
        for (const [owner, id] of [
          [one, retried],
          [two, dead],
          [two, notified],
        ] as const)
          for (const kind of ['webhook', 'slack'])
            await outbox.remove({ kind, subject: id, bucket: bucketOf(owner) }, one.tenant);
        await outbox.remove(pushed, one.tenant);
      }
      const { reads } = site;
      return {
        one,
        two,
        ids: { notified, retried, dead, streamRequestId },
        views,
        reads,
        request,
        read,
        redeliver,
        end,
      };
    }

    it('are listed with what has become of them, by every filter, in either order, without content', async () => {
      const { one, two, ids, views, reads, request, read, end } = await deliveriesOfTenant();
      const { notified, retried, pushed, dead } = views;
      const person = (owner: Owner) => `userId=${encodeURIComponent(owner.userId)}`;
      const queries: [query: string, found: readonly object[]][] = [
        ['?order=oldest', [notified, retried, pushed]],
        ['', [pushed, retried, notified]],
        ['?kind=a2a', [pushed]],
        ['?status=waiting,under_way', [pushed, notified]],
        [`?${person(one)}`, [pushed, retried]],
        [`?record=${ids.notified}`, [notified]],
        [`?streamRequestId=${ids.streamRequestId}`, [pushed]],
        ['?record=none', []],
        ['?olderThanSeconds=600', []],
        ['?state=ended', [dead]],
        [`?state=ended&${person(two)}&order=oldest&youngerThanSeconds=600`, [dead]],
        [`?state=ended&${person(one)}`, []],
      ];
      for (const [query, found] of queries)
        expect((await read(query)).deliveries, query).toMatchObject(found);
      const [{ nextAttemptAt = '' } = {}] = (await read('?kind=webhook')).deliveries;
      expect(Date.parse(String(nextAttemptAt)) - Date.now()).toBeGreaterThan(200_000);
      const walked: unknown[] = [];
      let cursor: string | undefined = '';
      while (cursor !== undefined) {
        const page: ListReply = await read(`?limit=1${cursor && `&cursor=${cursor}`}`);
        walked.push(...page.deliveries.map(({ kind }) => kind));
        cursor = page.nextCursor;
      }
      expect(walked).toEqual(['a2a', 'webhook', 'slack']);
      // A page reads the rows that it shows, and no others.
      expect(Math.max(...reads)).toBeLessThanOrEqual(3);
      const csv = (await request('GET', '/deliveries?format=csv')).text.split('\r\n');
      expect(csv[0]).toBe(
        'deliveryId,kind,state,target,elicitationId,approvalId,streamRequestId,userId,key,attempts,lastError,lastStatus,notedAt,nextAttemptAt,diedAt',
      );
      expect(csv).toHaveLength(5);
      await end();
    });

    it('are made again, whether they were given up or are tried again', async () => {
      const { ids, read, redeliver, end } = await deliveriesOfTenant();
      for (const id of [ids.retried, ids.dead]) {
        expect((await redeliver(id)).json).toEqual({ outstanding: true });
        await nextMillisecond();
      }
      expect((await read('?kind=webhook&order=oldest')).deliveries).toMatchObject([
        { elicitationId: ids.retried, state: 'waiting', attempts: 0 },
        { elicitationId: ids.dead, state: 'waiting', attempts: 0 },
      ]);
      expect((await read('?state=ended')).deliveries).toEqual([]);
      await end();
    });

    it('that a process of an earlier version has made leave the list when it is read', async () => {
      const { one, ids, read, end } = await deliveriesOfTenant();
      const listed = tenantListKey('deliveries', one.tenant, bucketOf(one));
      await redis.zadd(listed, 1, `slack ${ids.retried}`);
      expect((await read('?kind=slack')).deliveries).toHaveLength(1);
      expect(await redis.zscore(listed, `slack ${ids.retried}`)).toBeNull();
      await end();
    });
  });

  describe('strangers', () => {
    it('with a key of another tenant see and change nothing', async () => {
      const { run, question, at } = await detachedTurn();
      const theirs = adminKeyOf(stranger, 'operate+read_content');
      const outbox = { kind: 'slack', subject: question, bucket: bucketOf(run) };
      await pods.backend.outbox.add(outbox, tenant);
      for (const path of ['/elicitations', '/approvals', '/turns', '/deliveries']) {
        const query = `?userId=${encodeURIComponent(run.userId)}`;
        const reply = await list(`${path}${query}`, theirs);
        expect(Object.values(reply)).toEqual([[]]);
      }
      const approval = await requestApproval(engine, newStream(alice));
      const calls: [method: string, path: string, body?: unknown][] = [
        ['GET', `/elicitations/${question}`],
        ['GET', `/elicitations/${question}/why`],
        ['DELETE', `/elicitations/${question}`],
        ['POST', `/elicitations/${question}/redeliver`, { by: 'slack' }],
        ['GET', `/approvals/${approval.row.id}`],
        ['DELETE', `/approvals/${approval.row.id}`],
        ['GET', `/approvals/${question}`],
        ['GET', `/elicitations/${approval.row.id}`],
        ['GET', at()],
        ['GET', at('/why')],
        ['GET', at('/timeline')],
        ['POST', at('/stop')],
        ['POST', at('/resume')],
        ['POST', at('/redeliver'), { by: 'slack' }],
        ['POST', at('/redeliver'), { by: 'a2a' }],
      ];
      for (const [method, path, body] of calls)
        expectProblem(await send(method, path, theirs, body), 404, 'not_found');
      expect(acts).toEqual([]);
      expect((await get(`/elicitations/${question}`)).json).toMatchObject({
        elicitation: { status: 'pending' },
      });
      expect((await list(`/deliveries?record=${question}`)).deliveries).toMatchObject([{ kind: 'slack' }]);
      await pods.backend.outbox.remove(outbox, tenant);
    });

    it('without the scope are refused before anything is looked up; admin has it', async () => {
      const person = await userToken({ secret: ADMIN_TOKENS, userId: alice.userId, tenant });
      expect(served.surface.routes.length).toBeGreaterThan(16);
      for (const token of [adminKeyOf(alice, 'ask+read+chat'), person])
        for (const { method, path } of served.surface.routes)
          expectProblem(await send(method, path.replace('/v1/admin', ''), token), 403, 'forbidden');
      expect((await get('/elicitations', adminKeyOf(alice, 'admin'))).status).toBe(200);
    });

    it('cannot use the cursor of another tenant, list or filter, nor one that they made', async () => {
      const owners = [alice, stranger];
      for (const owner of owners) for (let at = 0; at < 2; at += 1) await askQuestion(engine, owner);
      const { nextCursor = '' } = await list('/elicitations?limit=1');
      expect(nextCursor).not.toBe('');
      const cursor = `cursor=${nextCursor}`;
      expect((await get(`/elicitations?limit=2&${cursor}`)).status).toBe(200);
      expectProblem(
        await get(`/elicitations?${cursor}`, adminKeyOf(stranger, 'operate')),
        400,
        'invalid_request',
      );
      for (const path of [
        `/approvals?${cursor}`,
        `/turns?${cursor}`,
        `/deliveries?${cursor}`,
        `/elicitations?order=oldest&${cursor}`,
        `/elicitations?state=ended&${cursor}`,
        `/elicitations?trigger=agent&${cursor}`,
        '/elicitations?cursor=x',
        `/elicitations?cursor=${Buffer.from('["x",1,"el_"]').toString('base64url')}`,
        '/elicitations?limit=101',
        '/elicitations?limit=0',
        '/elicitations?status=gone',
        '/elicitations?unknown=1',
        '/turns/sr_1',
        '/turns/sr_1?userId=u&key=k',
      ])
        expectProblem(await get(path), 400, 'invalid_request');
    });
  });
});
