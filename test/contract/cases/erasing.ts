import { randomUUID } from 'node:crypto';
import { bucketOf, formatStreamPath, type Owner } from '@parley/core/domain/ids';
import { NOTHING_ERASED } from '@parley/shared/domain/erasure';
import { webhookIdOf } from '@parley/shared/domain/webhooks/webhook';
import type { Backend } from '@parley/shared/ports/backend';
import { resumeTask } from '@parley/shared/ports/runs/resume-task';
import { eraseConversation } from '@parley/shared/runs/erase/conversation';
import { type EraseUserDeps, eraseUser } from '@parley/shared/runs/erase/user';
import { describe, expect, it } from 'vitest';
import { decideAs, requestApproval } from '../../harness/engines/approvals.ts';
import type { Contract } from '../../harness/engines/contract.ts';
import { dispatchOn, engineOn } from '../../harness/engines/engines.ts';
import { expectRefusal, readAll, readEntries } from '../../harness/engines/observe.ts';
import { answerQuestion, inputFor, RUN, serviceOf } from '../../harness/engines/questions.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { textWrite, turnOf } from '../../harness/engines/turn-writes.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const WEBHOOK = 'https://asker.example/hook';
const HOUR_MS = 3_600_000;
const BUDGET = { points: 5, windowSeconds: 600 };
const ACCOUNT = { toolId: 'tracker', connectorId: 'tracker-oauth' };
const LIMITS = ['user-writes', 'streams'];
const ENDS = { status: 'finished', messages: [{ role: 'user', content: 'Hello' }] } as const;
// One ended elicitation is in the history; the rows of the others are found without it.
const SETTINGS = { historyPerUserMax: 1 };

/** One of everything that is stored of a person. */
async function fill(backend: Backend, owner: Owner) {
  const { claims, pages, deadLetters, limits, outbox, runs, vault } = backend;
  const { tenant } = owner;
  const name = randomUUID();
  const webhooks = { hasSecret: () => true, mayCall: () => true };
  const engine = engineOn(backend, { deadlineJobs: backend.deadlineJobs, settings: { webhooks } });
  const stream = { ...owner, streamRequestId: `stream-${name}` };
  const ask = async (idempotencyKey: string, more: Parameters<typeof inputFor>[1] = {}) => {
    const { row } = await engine.ask({ tenant, input: inputFor(stream, more), idempotencyKey });
    return row.id;
  };
  const open = await ask(`open-${name}`);
  const ended = await ask(`ended-${name}`, { webhookUrl: WEBHOOK });
  const older = await ask(`older-${name}`);
  for (const id of [older, ended]) await answerQuestion(engine, owner, id, 'accept', { colour: 'red' });
  const secret = { toolId: 'parley:secret', trigger: 'agent' };
  const typed = await ask(`typed-${name}`, { mode: 'url', context: secret });
  await claims.claim({ family: 'secret', tenant, name: typed }, 'a tool call', HOUR_MS);
  await deadLetters.add(tenant, {
    deliveryId: webhookIdOf(ended),
    elicitationId: ended,
    attempts: 10,
    lastError: 'status',
  });

  const finished = turnOf(owner, `talk-${name}`);
  await runs.begin({ ...finished, title: 'Hello' });
  const step = { messages: [], finishReason: 'stop', inputTokens: 5, outputTokens: 5 };
  await runs.write(finished, textWrite(2, 3, { notes: [{ type: 'step', index: 0, step }], end: ENDS }));
  const unlisted = { ...turnOf(owner, `task-${name}`), unlisted: true } as const;
  await runs.begin(unlisted);
  await runs.write(unlisted, textWrite(2, 3, { end: ENDS }));
  const running = turnOf(owner, `busy-${name}`);
  await runs.begin(running);
  const delegate = {
    ...turnOf(owner, `delegate-${name}`),
    parent: { streamRequestId: running.streamRequestId, toolCallId: 'call' },
  };
  await runs.begin(delegate);
  const detached = turnOf(owner, `waits-${name}`);
  await runs.begin(detached);
  const detach = { questions: [open], runs: [] };
  await runs.write(detached, { term: 1, firstSeq: 2, events: [{ type: 'turn-detached' }], detach });
  await outbox.add(resumeTask(detached, 1));

  await limits.take('user-writes', owner, BUDGET);
  await limits.take(`answers:${open}`, owner, BUDGET);
  await limits.hold('streams', { subject: owner, place: 'a place' }, 5, HOUR_MS);
  const session = { family: 'session', id: `session-${name}` } as const;
  await pages.put(session, JSON.stringify(owner), HOUR_MS, owner);
  await pages.take(session, 'a browser');
  await backend.subscriptions.add(running, 'slack', HOUR_MS);
  await outbox.add({ kind: 'slack', subject: formatStreamPath(running), bucket: bucketOf(owner) });
  const partOf = (slot: number) => ({
    kind: 'delivery',
    subject: `${formatStreamPath(running)}/${slot}`,
    bucket: bucketOf(owner),
  });
  for (const slot of [0, 1]) await outbox.add(partOf(slot));
  // A delivery that was tried, and is due again hours later.
  const tried = await outbox.takeOne(partOf(0), HOUR_MS);
  if (tried !== undefined) await outbox.again(tried, HOUR_MS);
  await backend.elicitations.keep(older, HOUR_MS);
  await backend.ownerRecords.mcp.putIfAbsent(owner, `record-${name}`, 'kept', HOUR_MS);
  await backend.ownerRecords.workflows.putIfAbsent(owner, `workflow-${name}`, 'kept', HOUR_MS);
  const account = { ...owner, ...ACCOUNT };
  await vault.write(account, `sealed-${name}`);
  await vault.lease(account, 'a pod', HOUR_MS);
  await vault.stage({ ...account, flowId: `${open}.flow` }, `staged-${name}`, HOUR_MS);
  const ids = [open, ended, older, typed];
  const turns = [running, delegate, detached, finished, unlisted];
  return { name, owner, engine, stream, ids, open, session, account, running, turns };
}

type Filled = Awaited<ReturnType<typeof fill>>;

/** All that the ports show of a person. */
async function shownOf(backend: Backend, filled: Filled) {
  const { owner, stream, ids, session, account, turns } = filled;
  const { claims, elicitations } = backend;
  const tasks = await backend.outbox.take(
    bucketOf(owner),
    { 'resume-run': 100, webhook: 100, slack: 100, delivery: 100 },
    0,
  );
  const subjects = [...ids, ...turns.map(formatStreamPath)];
  const claim = (family: 'stream' | 'idempotency' | 'secret', name: string) =>
    claims.claim({ family, tenant: owner.tenant, name }, 'nobody', 1);
  return {
    rows: (await backend.records.readMany(ids)).records.map(
      (record) => record && { ...record.row, revision: 0 },
    ),
    listed: (await elicitations.page({ owner, limit: 100 })).rows.map(({ id }) => id),
    feeds: await Promise.all([stream, ...turns].map((one) => readEntries(backend.feed, one))),
    turns: await Promise.all(turns.map((turn) => backend.runs.standing(turn))),
    conversations: (await backend.conversations.list(owner, { limit: 100 })).conversations,
    histories: await Promise.all(turns.map((turn) => backend.conversations.read(turn))),
    tasks: tasks
      .map(({ task }) => task.subject)
      .filter((subject) => subjects.some((one) => subject === one || subject.startsWith(`${one}/`))),
    claims: await Promise.all([
      claim('stream', stream.streamRequestId),
      claim('secret', ids.at(-1) ?? ''),
      ...['open', 'ended', 'older', 'typed'].map((key) =>
        claim('idempotency', `${key}-${stream.streamRequestId.slice(7)}`),
      ),
    ]),
    letters: (await backend.deadLetters.page({ tenant: owner.tenant, limit: 100 })).deadLetters.filter(
      ({ elicitationId }) => ids.includes(elicitationId),
    ),
    letter: await backend.deadLetters.read(owner.tenant, webhookIdOf(ids[1] ?? '')),
    followers: await backend.subscriptions.of(turns[0] ?? stream),
    places: await backend.limits.places('streams', owner),
    session: await backend.pages.read(session),
    record: await backend.ownerRecords.mcp.read(owner, `record-${filled.name}`),
    entry: await backend.ownerRecords.workflows.read(owner, `workflow-${filled.name}`),
    accounts: await backend.vault.listOf(owner),
    credential: (await backend.vault.read(account))?.sealed,
  };
}

/** Erasing a person: what is theirs goes, what waits is told, and nothing comes back. */
export function erasingContract(contract: Contract): void {
  function depsOn(backend: Backend, more: Partial<EraseUserDeps> = {}): EraseUserDeps {
    return {
      backend,
      engine: engineOn(backend),
      deliveries: dispatchOn(backend),
      deliveryKinds: ['delivery'],
      unlink: undefined,
      async eraseAccounts(owner) {
        const { credentials, staged } = await backend.vault.listOf(owner);
        for (const ref of credentials)
          await backend.vault.remove(ref, (await backend.vault.read(ref))?.version ?? 0);
        for (const flow of staged) await backend.vault.drop(flow);
        return credentials.length + staged.length;
      },
      userLimits: LIMITS,
      elicitationLimits: (id) => [`answers:${id}`],
      graceMs: 50,
      budgetMs: 60_000,
      ...more,
    };
  }

  const newPair = () => {
    const tenant = `tenant-${RUN}-${randomUUID()}`;
    const gone: Owner = { tenant, userId: `gone/ü ${randomUUID()}` };
    const stays: Owner = { tenant, userId: `stays/ü ${randomUUID()}` };
    return { gone, stays };
  };

  /**
   * The lines of the store that name the person or anything of theirs, in a key or a value. The timer of a bucket, which others
   * need too, has the id of the elicitation that armed it.
   */
  async function linesOf(filled: Filled): Promise<string[]> {
    const { owner, ids, stream, turns } = filled;
    const names = [owner.userId, encodeURIComponent(owner.userId)];
    const streams = [stream, ...turns].map(({ streamRequestId }) => streamRequestId);
    const lines = (await contract.dump?.()) ?? [];
    return lines.filter((line) => {
      const isTimer = /^\S+:(events|armed|expiry:\S+) /.test(line);
      return (isTimer ? names : [...names, ...ids, ...streams]).some((word) => line.includes(word));
    });
  }

  describe('erasing a conversation', () => {
    it('ends what runs in it, removes all of it, and nothing else of its person', async () => {
      const { backend, second } = contract.pods;
      const { gone: owner } = newPair();
      const engine = engineOn(backend);
      const ended = turnOf(owner, `gone-${randomUUID()}`);
      const conversation = { ...owner, conversationId: ended.conversationId };
      const running = turnOf(owner, conversation.conversationId);
      const parent = { streamRequestId: running.streamRequestId, toolCallId: 'call' };
      const delegate = { ...turnOf(owner, `delegate-${randomUUID()}`), parent };
      const other = turnOf(owner, 'stays');
      const ask = async ({ streamRequestId, conversationId }: typeof running) => {
        const input = inputFor({ ...owner, streamRequestId }, { conversationId });
        return (await engine.ask({ tenant: owner.tenant, input })).row.id;
      };
      await backend.runs.begin({ ...ended, title: 'Gone' });
      const answered = await ask(ended);
      await answerQuestion(engine, owner, answered, 'accept', { colour: 'red' });
      await backend.runs.write(ended, textWrite(2, 3, { end: ENDS }));
      for (const run of [running, delegate, other]) await backend.runs.begin(run);
      const [open, kept] = [await ask(running), await ask(other)];
      const waits = engineOn(second).wait({ caller: serviceOf(owner), id: open });
      // A service's question names the conversation, and no turn of it.
      const asked = await ask({ ...running, streamRequestId: `stream-${randomUUID()}` });
      for (const { conversationId } of [running, other]) {
        const stream = { ...owner, streamRequestId: `stream-${randomUUID()}` };
        const { row } = await requestApproval(engine, stream, { conversationId }, randomUUID());
        await decideAs(engine, stream, row.id, { decision: 'approve', remember: true });
      }
      const deps = { ...depsOn(second), backend: second, engine: engineOn(second) };
      expect(await second.conversations.rename(conversation, 'Still here')).toBe(true);

      expect(await eraseConversation(deps, conversation)).toBe(true);
      expect(await second.conversations.rename(conversation, 'Again')).toBe(false);
      expect((await waits).row).toMatchObject({ status: 'withdrawn' });
      for (const run of [running, delegate])
        expect(await backend.runs.write(run, textWrite(2, 3))).toBe('gone');
      const gone = [ended, running, delegate];
      for (const run of gone) {
        expect(await readEntries(backend.feed, run)).toEqual([]);
        expect(await backend.conversations.read(run)).toEqual({ messages: [] });
      }
      const { records } = await backend.records.readMany([answered, open, asked, kept]);
      expect(records.flatMap((record) => record?.row.status ?? [])).toEqual(['pending']);
      expect(await engine.approvals.grants.list(owner)).toMatchObject([{ conversationId: 'stays' }]);
      expect((await backend.conversations.list(owner, { limit: 5 })).conversations).toMatchObject([
        { conversationId: 'stays' },
      ]);
      expect(await backend.runs.listOf(owner, 10)).toEqual([other.streamRequestId]);
      const names = [answered, open, conversation.conversationId, ...gone.map((run) => run.streamRequestId)];
      const lines = ((await contract.dump?.()) ?? []).filter(
        (line) => !/^\S+:(events|armed|expiry:\S+) /.test(line),
      );
      expect(lines.filter((line) => names.some((name) => line.includes(name)))).toEqual([]);
      expect(await eraseConversation(deps, conversation)).toBe(false);
    });

    it('removes what is recorded under the ids of its turns, and nothing of other turns', async () => {
      const { backend, second } = contract.pods;
      const { gone: owner } = newPair();
      const [gone, stays] = [turnOf(owner, `gone-${randomUUID()}`), turnOf(owner, 'stays')];
      const { a2a, pushes } = backend.ownerRecords;
      const kinds = Object.entries({ 'a2a-answer': a2a, 'a2a-push': pushes });
      for (const run of [gone, stays]) {
        await backend.runs.begin(run);
        for (const [what, records] of kinds)
          await records.putIfAbsent(owner, `${what}/${run.streamRequestId}/1`, 'said', HOUR_MS);
      }
      const deps = { ...depsOn(second), backend: second, engine: engineOn(second) };
      expect(await eraseConversation(deps, gone)).toBe(true);
      for (const [what, records] of kinds)
        expect(await records.list(owner, '')).toEqual([
          { name: `${what}/${stays.streamRequestId}/1`, value: 'said' },
        ]);
    });
  });

  describe('erasing a person', () => {
    it('removes one of everything, and nothing of another person', async () => {
      const { backend } = await contract.openWith(SETTINGS);
      const { gone, stays } = newPair();
      const [theirs, others] = [await fill(backend, gone), await fill(backend, stays)];
      const before = await shownOf(backend, others);
      const result = await eraseUser(depsOn(backend), gone);
      expect(result).toEqual({
        complete: true,
        counts: {
          withdrawn: 2,
          stopped: 3,
          elicitations: 4,
          turns: 5,
          conversations: 4,
          accounts: 2,
          pages: 1,
        },
      });
      expect(await linesOf(theirs)).toEqual([]);
      expect(await shownOf(backend, theirs)).toEqual({
        rows: theirs.ids.map(() => undefined),
        listed: [],
        feeds: [[], [], [], [], [], []],
        turns: theirs.turns.map(() => undefined),
        conversations: [],
        histories: theirs.turns.map(() => ({ messages: [] })),
        tasks: [],
        claims: Array.from({ length: 6 }, () => 'nobody'),
        letters: [],
        letter: undefined,
        followers: [],
        places: [],
        session: undefined,
        record: undefined,
        entry: undefined,
        accounts: { credentials: [], staged: [] },
        credential: undefined,
      });
      expect(await shownOf(backend, others)).toEqual(before);
      expect(before.claims).not.toContain('nobody');
    });

    it('withdraws what is open first: its waiter and its reader get that outcome', async () => {
      const { backend, second } = await contract.openWith(SETTINGS);
      const { gone } = newPair();
      const { owner, stream, open, running } = await fill(backend, gone);
      const there = engineOn(second);
      const caller = serviceOf(owner);
      const waits = there.wait({ caller, id: open });
      const signal = contract.signal();
      const reader = readAll(await there.watch({ stream, evenIfSilent: true, signal }));
      const turn = readAll(await there.watch({ stream: running, evenIfSilent: true, signal }));
      await Promise.all([reader.first(1), turn.first(1)]);
      await eraseUser(depsOn(backend, { graceMs: 5_000 }), gone);
      expect((await waits).row).toMatchObject({
        status: 'withdrawn',
        settlement: { reason: 'user_erased' },
      });
      const resolved = {
        event: 'elicitation-resolved',
        elicitation: { elicitationId: open, status: 'withdrawn' },
      };
      await expect
        .poll(() => reader.seen)
        .toContainEqual(
          expect.objectContaining({
            ...resolved,
            elicitation: expect.objectContaining(resolved.elicitation),
          }),
        );
      await expect
        .poll(() =>
          turn.seen.map((item) => ('event' in item && typeof item.event === 'object' ? item.event.type : '')),
        )
        .toContain('turn-finished');
    });

    it('leaves the claims of another person, who has taken a lapsed key and a lapsed stream request', async () => {
      const { backend } = await contract.openWith(SETTINGS);
      const { gone, stays } = newPair();
      const { claims } = backend;
      const engine = engineOn(backend);
      const { tenant } = gone;
      const [idempotencyKey, streamRequestId] = [randomUUID(), `stream-${randomUUID()}`];
      const askFor = (owner: Owner) =>
        engine.ask({ tenant, input: inputFor({ ...owner, streamRequestId }), idempotencyKey });
      await askFor(gone);
      for (const name of [
        { family: 'idempotency', tenant, name: idempotencyKey },
        { family: 'stream', tenant, name: streamRequestId },
      ] as const)
        await claims.drop(name, (await claims.read(name)) ?? '');
      const { row } = await askFor(stays);
      expect(row.definition.userId).toBe(stays.userId);
      await eraseUser(depsOn(backend), gone);
      const third = inputFor({ ...newPair().gone, tenant, streamRequestId });
      expect(await expectRefusal(engine.ask({ tenant, input: third }))).toMatchObject({
        code: 'stream_owner_mismatch',
      });
      const again = await askFor(stays);
      expect([again.replayed, again.row.id]).toEqual([true, row.id]);
    });

    it('is not undone by a pod that still runs a turn, nor by what is under way', async () => {
      const { backend } = await contract.openWith(SETTINGS);
      const { gone } = newPair();
      const theirs = await fill(backend, gone);
      const { engine, open, running, session, stream } = theirs;
      await eraseUser(depsOn(backend), gone);
      // The pod that asked knows the row, and learns from its first commit that it is gone.
      for (let call = 0; call < 2; call += 1)
        expect(await expectRefusal(answerQuestion(engine, gone, open, 'decline'))).toMatchObject({
          code: 'not_found',
        });
      expect(await backend.runs.write(running, textWrite(2, 3))).toBe('gone');
      expect(await backend.runs.takeOver(running, 2, 'pod-b')).toBeUndefined();
      const input = inputFor(stream);
      const asks = [
        () => engine.ask({ tenant: gone.tenant, input }),
        () =>
          engine.ask({
            tenant: gone.tenant,
            input,
            idempotencyKey: `again-${stream.streamRequestId}`,
            keyDecides: true,
          }),
        () => backend.runs.begin(turnOf(gone)),
        () => backend.pages.put(session, 'again', HOUR_MS, gone),
        () => backend.subscriptions.add(running, 'slack', HOUR_MS),
        () => backend.ownerRecords.mcp.putIfAbsent(gone, 'again', 'again', HOUR_MS),
        () => backend.ownerRecords.workflows.putIfAbsent(gone, 'again', 'again', HOUR_MS),
      ];
      for (const one of asks)
        expect(await expectRefusal(one())).toMatchObject({
          code: 'user_erased',
          retryAfterSeconds: expect.any(Number),
        });
      expect(await linesOf(theirs)).toEqual([]);
    });

    it('continues where an earlier call was interrupted, and finds nothing in the end', async () => {
      const { backend } = await contract.openWith(SETTINGS);
      const { gone } = newPair();
      const theirs = await fill(backend, gone);
      let removals = 0;
      const erasure: Backend['erasure'] = {
        ...backend.erasure,
        async remove(owner, part) {
          removals += 1;
          if (removals === 1) throw new Error('The pod dies.');
          // A part of the part: the second call finds the rest.
          await backend.erasure.remove(owner, { ...part, turnIds: part.turnIds.slice(1) });
          if (removals === 2) throw new Error('The pod dies.');
        },
      };
      const failing = depsOn({ ...backend, erasure });
      await expect(eraseUser(failing, gone)).rejects.toThrow('dies');
      await expect(eraseUser(failing, gone)).rejects.toThrow('dies');
      const rest = await eraseUser(depsOn(backend), gone);
      expect(rest).toMatchObject({ complete: true, counts: { turns: 1, accounts: 2, pages: 1 } });
      expect(await linesOf(theirs)).toEqual([]);
      const nothing = { complete: true, counts: NOTHING_ERASED };
      expect(await eraseUser(depsOn(backend), gone)).toEqual(nothing);
      expect(await eraseUser(depsOn(backend), newPair().gone)).toEqual(nothing);
    });

    it('leaves no deadline of an open question that was removed', async () => {
      const { backend } = await contract.openWith(SETTINGS);
      const { gone } = newPair();
      const engine = engineOn(backend);
      const { row } = await engine.ask({
        tenant: gone.tenant,
        input: inputFor({ ...gone, streamRequestId: randomUUID() }, { timeoutSeconds: 0.05 }),
      });
      const part = {
        elicitationIds: [row.id],
        streamRequestIds: [],
        turnIds: [],
        conversationIds: [],
        idempotencyKeys: [],
      };
      await backend.erasure.remove(gone, part);
      const passed = async () => (await backend.elicitations.read(row.id)).now > row.expiresAt;
      await waitUntil(passed, { what: 'the deadline' });
      expect(await backend.elicitations.due(bucketOf(gone), 10_000)).not.toContain(row.id);
      const due = { bucket: bucketOf(gone), batch: 10 };
      await engine.expireDue(due);
    });

    it('frees the quotas of what it has removed, before the rest is removed', async () => {
      const chatQuotas = { ...ROOMY.chatQuotas, conversationsMax: 2, storedBytesMax: 50_000 };
      const { backend } = await contract.openWith({ chatQuotas });
      const { gone } = newPair();
      const turn = (talk: string, bytes: number) => ({
        ...turnOf(gone, talk),
        input: [{ role: 'user', content: 'x'.repeat(bytes) } as const],
      });
      const refused = (quota: string) => ({ type: 'over-quota', quota });
      for (const talk of ['one', 'two']) {
        const ended = turn(talk, 10_000);
        await backend.runs.begin(ended);
        await backend.runs.write(
          ended,
          textWrite(2, 2, { end: { status: 'finished', messages: ended.input } }),
        );
      }
      expect(await backend.runs.begin(turn('three', 10))).toMatchObject(refused('conversations'));
      expect(await backend.runs.begin(turn('two', 30_000))).toMatchObject(refused('storage'));
      await backend.erasure.remove(gone, await backend.erasure.next(gone));
      expect(await backend.runs.begin(turn('three', 45_000))).toMatchObject({ type: 'begun' });
      expect(await backend.runs.begin(turn('four', 10_000))).toMatchObject(refused('storage'));
    });

    it('removes the credentials that a flow brings while others are removed', async () => {
      const { backend } = await contract.openWith(SETTINGS);
      const { gone } = newPair();
      const { account } = await fill(backend, gone);
      const deps = depsOn(backend);
      let isLate = false;
      const eraseAccounts = async (owner: Owner) => {
        const found = await deps.eraseAccounts(owner);
        if (!isLate) await backend.vault.stage({ ...account, flowId: 'late' }, 'staged late', HOUR_MS);
        isLate = true;
        return found;
      };
      const result = await eraseUser({ ...deps, eraseAccounts }, gone);
      expect(result).toMatchObject({ complete: true, counts: { accounts: 3 } });
      expect(await backend.vault.listOf(gone)).toEqual({ credentials: [], staged: [] });
    });

    it('ends a call after its time, and removes something in every call, however short its time is', async () => {
      const { backend } = await contract.openWith(SETTINGS);
      const { gone } = newPair();
      const theirs = await fill(backend, gone);
      const eraseBriefly = () => eraseUser(depsOn(backend, { budgetMs: 0 }), gone);
      expect(await eraseBriefly()).toMatchObject({ complete: false, counts: { elicitations: 4, turns: 5 } });
      const results = [false];
      while (results.at(-1) !== true && results.length < 5) results.push((await eraseBriefly()).complete);
      expect(results.at(-1)).toBe(true);
      expect(await linesOf(theirs)).toEqual([]);
    });
  });
}
