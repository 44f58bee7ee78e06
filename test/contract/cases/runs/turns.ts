import { randomUUID } from 'node:crypto';
import { eventNumberOf } from '@parley/core/domain/events';
import { keyedStreamRequestId, mintStreamRequestId, type Owner } from '@parley/core/domain/ids';
import { DETACHED, type Message, type RunRef, UNOWNED } from '@parley/shared/domain/runs/run';
import type { Backend } from '@parley/shared/ports/backend';
import type { NewRun, RunNote, RunWrite } from '@parley/shared/ports/runs/runs';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { engineOn } from '../../../harness/engines/engines.ts';
import { readEntries } from '../../../harness/engines/observe.ts';
import { answerQuestion, inputFor, newOwner } from '../../../harness/engines/questions.ts';
import { HELLO, textWrite, turnOf } from '../../../harness/engines/turn-writes.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

/** The turn as one call of its own asks for it. */
function asking(digest: string, turn: NewRun): NewRun {
  return { ...turn, request: { digest, nonce: randomUUID() } };
}

/** Turns: who may write them, what stays of them, and the history they add to. */
export function turnContract(contract: Contract): void {
  async function begun(backend: Backend, owner = newOwner(), conversationId = 'talk'): Promise<NewRun> {
    const turn = turnOf(owner, conversationId);
    expect(await backend.runs.begin(turn)).toEqual({ type: 'begun', term: 1, writerSeq: 1 });
    return turn;
  }

  async function textsOf(backend: Backend, run: RunRef): Promise<string[]> {
    const entries = await readEntries(backend.feed, run);
    return entries.map(({ event }) => ('text' in event ? String(event.text).trim() : event.type));
  }

  describe('the list of conversations', () => {
    const list = (backend: Backend, owner: Owner, limit = 50, cursor?: string) =>
      backend.conversations.list(owner, { limit, ...(cursor !== undefined && { cursor }) });
    const end = { status: 'finished', messages: [HELLO] } as const;

    it('has no conversation of unlisted turns, whose history and last turn are kept all the same', async () => {
      const { backend, second } = contract.pods;
      const owner = newOwner();
      const task = { ...turnOf(owner, 'task'), title: 'Hello there', unlisted: true } as const;
      await backend.runs.begin(task);
      expect((await second.runs.read(task)).run).toMatchObject({ unlisted: true, status: 'running' });
      await backend.runs.write(task, textWrite(2, 2, { end }));
      expect((await list(second, owner)).conversations).toEqual([]);
      const { streamRequestId } = task;
      expect(await second.conversations.read(task)).toMatchObject({
        messages: [HELLO],
        last: { streamRequestId },
      });
    });

    it('a conversation of unlisted turns goes with its last turn', async () => {
      const { backend } = await contract.openWith({ retentionMs: 3_000, conversationTtlMs: 600_000 });
      const owner = newOwner();
      const task = { ...turnOf(owner, 'task'), unlisted: true } as const;
      const chat = turnOf(owner, 'chat');
      const messagesOf = async (run: RunRef) => (await backend.conversations.read(run)).messages;
      for (const run of [chat, task]) {
        await backend.runs.begin(run);
        await backend.runs.write(run, textWrite(2, 2, { end }));
      }
      expect(await messagesOf(task)).toEqual([{ ...HELLO, turn: task.streamRequestId }]);
      await waitUntil(async () => (await messagesOf(task)).length === 0, { what: 'the task to expire' });
      expect(await messagesOf(chat)).toEqual([{ ...HELLO, turn: chat.streamRequestId }]);
    });

    it('has the one with the latest turn first, and says what it is about and whether a turn runs', async () => {
      const { backend, second } = contract.pods;
      const owner = newOwner();
      const first = { ...turnOf(owner, 'first'), title: 'Hello there' };
      await backend.runs.begin(first);
      await backend.runs.write(first, textWrite(2, 2, { end }));
      await backend.runs.begin({ ...turnOf(owner, 'second'), title: 'Another' });
      const both = await list(second, owner);
      expect(both).toMatchObject({
        conversations: expect.arrayContaining([
          {
            conversationId: 'second',
            title: 'Another',
            agent: 'helper',
            isRunning: true,
            at: expect.any(Number),
          },
          {
            conversationId: 'first',
            title: 'Hello there',
            agent: 'helper',
            isRunning: false,
            at: expect.any(Number),
          },
        ]),
      });
      await waitUntil(
        async () => {
          const again = { ...turnOf(owner, 'first'), title: 'More' };
          await backend.runs.begin(again);
          await backend.runs.write(again, textWrite(2, 2, { end }));
          const { conversations } = await list(second, owner);
          expect(conversations).toHaveLength(2);
          return conversations[0]?.conversationId === 'first' && conversations[0].title === 'Hello there';
        },
        { what: 'the first one to come first' },
      );
    });

    it('shows the title that its person gave to a conversation, also after its next turn', async () => {
      const { backend, second } = contract.pods;
      const owner = newOwner();
      const turn = { ...turnOf(owner, 'talk'), title: 'Hello there' };
      await backend.runs.begin(turn);
      await backend.runs.write(turn, textWrite(2, 2, { end }));
      const { conversations } = second;
      expect(await conversations.rename({ ...turn, conversationId: 'other' }, 'Trip')).toBe(false);
      expect(await conversations.rename({ ...turn, ...newOwner() }, 'Trip')).toBe(false);
      expect(await conversations.rename(turn, 'Trip')).toBe(true);
      await backend.runs.begin({ ...turnOf(owner, 'talk'), title: 'More' });
      expect((await list(second, owner)).conversations).toMatchObject([{ title: 'Trip', isRunning: true }]);
    });

    it('is read in pages without a gap, and has nothing of other people or of delegates', async () => {
      const { backend, second } = contract.pods;
      const owner = newOwner();
      const ids = Array.from({ length: 7 }, (_, index) => `talk-${index}`);
      await Promise.all(ids.map((id) => backend.runs.begin(turnOf(owner, id))));
      const parent = { streamRequestId: mintStreamRequestId(), toolCallId: 'call' };
      await backend.runs.begin({ ...turnOf(owner, 'delegated'), parent });
      await backend.runs.begin(turnOf(newOwner(), 'foreign'));
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await list(second, owner, 3, cursor);
        expect(page.conversations.length).toBeLessThanOrEqual(3);
        found.push(...page.conversations.map(({ conversationId }) => conversationId));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(found.toSorted()).toEqual(ids);
    });
  });

  describe("the list of a person's turns", () => {
    it('has the running ones, then those that ended last, with delegates, and nothing of others or of nobody', async () => {
      const { backend, second } = contract.pods;
      const owner = newOwner();
      const finish = async (run: NewRun) => {
        await backend.runs.begin(run);
        await backend.runs.write(run, textWrite(2, 2, { end: { status: 'finished', messages: [HELLO] } }));
      };
      const [early, late, running] = ['early', 'late', 'running'].map((talk) => turnOf(owner, talk));
      if (early === undefined || late === undefined || running === undefined)
        throw new Error('There are three.');
      await finish(early);
      // The order is that of the Redis clock, in ms.
      await waitUntil(
        async () =>
          (await backend.runs.read(early)).now > ((await backend.runs.read(early)).run?.endedAt ?? 0),
        { what: 'the next ms' },
      );
      await finish(late);
      const parent = { streamRequestId: running.streamRequestId, toolCallId: 'call' };
      const delegated = { ...turnOf(owner, 'delegated'), parent };
      for (const run of [running, delegated, turnOf(newOwner())]) await backend.runs.begin(run);
      const support = { form: false, url: false, unattended: true } as const;
      await backend.runs.begin({ ...turnOf(owner, 'unattended'), support });
      const idOf = ({ streamRequestId }: NewRun) => streamRequestId;
      const all = await second.runs.listOf(owner, 10);
      expect(all.slice(0, 2).toSorted()).toEqual([running, delegated].map(idOf).toSorted());
      expect(all.slice(2)).toEqual([late, early].map(idOf));
      expect(await second.runs.listOf(owner, 3)).toEqual(all.slice(0, 3));
      expect(await second.runs.listOf(newOwner(), 10)).toEqual([]);
    });
  });

  describe('a turn', () => {
    it('keeps its trace context for its next owners and for the next turn of the conversation', async () => {
      const { backend, second } = contract.pods;
      const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
      const owner = newOwner();
      const turn = { ...turnOf(owner), traceparent };
      await backend.runs.begin(turn);
      expect((await second.runs.read(turn)).run).toMatchObject({ traceparent });
      await backend.runs.write(turn, textWrite(2, 2, { end: { status: 'finished', messages: [] } }));
      expect((await second.conversations.read(turn)).last).toMatchObject({ traceparent });
      const untraced = turnOf(owner);
      await backend.runs.begin(untraced);
      expect((await second.runs.read(untraced)).run).not.toHaveProperty('traceparent');
      await backend.runs.write(untraced, textWrite(2, 2, { end: { status: 'finished', messages: [] } }));
      expect((await second.conversations.read(turn)).last).not.toHaveProperty('traceparent');
    });

    it('of twenty that begin at once, exactly one begins', async () => {
      const { backend, second } = contract.pods;
      const owner = newOwner();
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 === 0 ? backend : second).runs.begin(turnOf(owner, 'talk', `pod-${index}`)),
        ),
      );
      expect(results.filter(({ type }) => type === 'begun')).toHaveLength(1);
    });

    it('is separate from turns of equal ids of another user, tenant or conversation', async () => {
      const { backend } = contract.pods;
      const turn = await begun(backend);
      const { tenant, userId } = turn;
      for (const other of [
        { ...turn, userId: `${userId}-2` },
        { ...turn, tenant: `${tenant}-2` },
        { ...turn, conversationId: 'other', streamRequestId: mintStreamRequestId() },
      ]) {
        expect(await backend.runs.begin(other)).toMatchObject({ type: 'begun' });
        const end = { status: 'finished', messages: [HELLO] } as const;
        await backend.runs.write(other, textWrite(2, 2, { end }));
      }
      expect((await backend.runs.read(turn)).run?.status).toBe('running');
      expect(await backend.conversations.read(turn)).toEqual({
        running: turn.streamRequestId,
        messages: [],
      });
    });

    it('of twenty repeats of a request at once, one begins it', async () => {
      const { backend, second } = contract.pods;
      const turn = turnOf(newOwner());
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 === 0 ? backend : second).runs.begin({
            ...asking('a', turn),
            owner: `pod-${index % 3}`,
          }),
        ),
      );
      const types = results.map(({ type }) => type).sort();
      expect(types).toEqual(['begun', ...Array.from({ length: 19 }, () => 'known')]);
      expect(await textsOf(second, turn)).toEqual(['turn-started']);
    });

    it('under the same key of another person is another turn', async () => {
      const { backend } = contract.pods;
      const owner = newOwner();
      const others = [owner, { ...owner, userId: `${owner.userId}-2` }, { ...owner, tenant: 'other' }];
      const ids = await Promise.all(others.map((other) => keyedStreamRequestId(other, 'a key')));
      expect(new Set(ids).size).toBe(3);
      expect(ids[0]).toMatch(/^sr_[A-Za-z0-9_-]{22}$/);
      expect(await keyedStreamRequestId({ ...owner }, 'a key')).toBe(ids[0]);
      expect(await keyedStreamRequestId(owner, 'another key')).not.toBe(ids[0]);
      for (const [index, other] of others.entries()) {
        const turn = { ...turnOf(other), streamRequestId: ids[index] ?? '' };
        expect(await backend.runs.begin(asking('a', turn))).toMatchObject({ type: 'begun' });
      }
    });

    it('frees its key at the end of its retention', async () => {
      const { backend } = await contract.openWith({ retentionMs: 3_000 });
      const turn = asking('a', turnOf(newOwner()));
      await backend.runs.begin(turn);
      await backend.runs.write(turn, textWrite(2, 2, { end: { status: 'finished', messages: [HELLO] } }));
      expect(await backend.runs.begin(asking('a', turn))).toMatchObject({ type: 'known' });
      await waitUntil(async () => (await backend.runs.begin(asking('b', turn))).type === 'begun', {
        what: 'the end of its retention',
      });
    });

    it('wakes the readers of its stream on any pod, and shares one order with its questions', async () => {
      const { first, pods } = contract;
      const turn = await begun(pods.backend);
      const { tenant, userId, streamRequestId } = turn;
      const aborting = new AbortController();
      const items = await engineOn(pods.second, { settings: { recheckMs: 600_000 } }).watch({
        stream: turn,
        evenIfSilent: true,
        signal: aborting.signal,
      });
      const seen: string[] = [];
      const reading = (async () => {
        for await (const item of items) {
          if (item.type === 'reset' || item.type === 'approval') continue;
          seen.push(item.type === 'elicitation' ? item.event : String(item.event.text ?? item.event.type));
        }
      })().catch(() => undefined);
      await waitUntil(() => seen.length === 1, { what: 'the start', everyMs: 5 });
      await pods.backend.runs.write(turn, textWrite(2, 2));
      const { row } = await first.ask({
        tenant,
        input: { ...inputFor({ tenant, userId }), streamRequestId },
      });
      await waitUntil(() => seen.length === 3, { what: 'the question', everyMs: 5 });
      await answerQuestion(contract.second, { tenant, userId }, row.id, 'accept', { colour: 'red' });
      await pods.backend.runs.write(turn, textWrite(3, 3));
      await waitUntil(() => seen.length === 5, { what: 'the rest', everyMs: 5 });
      aborting.abort();
      await reading;
      expect(seen).toEqual(['turn-started', '2 ', 'elicitation-request', 'elicitation-resolved', '3 ']);
      const entries = await readEntries(pods.backend.feed, turn);
      expect(entries.map(({ position }) => eventNumberOf(position))).toEqual([1, 2, 3, 4, 5]);
    });

    it('keeps its notes, the latest of each name', async () => {
      const { backend, second } = contract.pods;
      const turn = await begun(backend);
      const call = { toolCallId: 'call:1', toolName: 'search', step: 0, state: 'intended' } as const;
      const step = { messages: [{ role: 'assistant', content: [] }], finishReason: 'tool-calls' } as const;
      const pause = { elicitationId: 'el_1', trigger: 'agent', pausedAt: 5 };
      const write = (notes: RunWrite['notes']) =>
        backend.runs.write(turn, { term: 1, firstSeq: 2, events: [], notes: notes ?? [] });
      await write([
        { type: 'call', call },
        { type: 'pause', pause },
      ]);
      await write([
        { type: 'step', index: 0, step: { ...step, messages: [...step.messages] } },
        { type: 'call', call: { ...call, state: 'returned', output: { found: 3 } } },
        { type: 'pause', pause: { ...pause, resumedAt: 9, outcome: 'accepted' } },
      ]);
      const { run } = await second.runs.read(turn);
      expect(run).toMatchObject({ agent: 'helper', owner: 'pod-a', input: [HELLO], status: 'running' });
      expect(run?.steps).toEqual([step]);
      expect(run?.calls).toEqual([{ ...call, state: 'returned', output: { found: 3 } }]);
      expect(run?.pauses).toEqual([{ ...pause, resumedAt: 9, outcome: 'accepted' }]);
    });

    it('keeps the call it works for and its whole input; its standing is read without the rest', async () => {
      const { backend, second } = contract.pods;
      const parent = { streamRequestId: mintStreamRequestId(), toolCallId: 'call 1' };
      const turn = { ...turnOf(newOwner()), parent };
      const before: Message[] = [{ role: 'user', content: 'Before' }];
      await backend.runs.begin({ ...turn, before });
      expect((await second.runs.read(turn)).run).toMatchObject({ parent, input: [...before, HELLO] });
      const standing = {
        conversationId: 'talk',
        status: 'running',
        owner: 'pod-a',
        term: 1,
        deaths: 0,
        takeOvers: 0,
        parent,
      };
      expect(await second.runs.standing(turn)).toEqual(standing);
      expect(await second.runs.standing(turnOf(turn))).toBeUndefined();
      const { tenant, userId, streamRequestId, agent } = turn;
      const head = { ...standing, tenant, userId, streamRequestId, agent, startedAt: expect.any(Number) };
      expect(await second.runs.heads([turnOf(turn), turn])).toEqual([undefined, head]);
      await second.runs.stop(turn);
      await backend.runs.write(turn, textWrite(2, 2, { end: { status: 'stopped', messages: [] } }));
      const ended = { ...head, status: 'stopped', isStopping: true, endedAt: expect.any(Number) };
      expect(await second.runs.heads([turn])).toEqual([ended]);
    });

    it('omits the history that its client sends where the conversation is known', async () => {
      const { backend, second } = contract.pods;
      const turn = await begun(backend);
      await backend.runs.write(turn, textWrite(2, 2, { end: { status: 'finished', messages: [HELLO] } }));
      const next = { ...turn, streamRequestId: mintStreamRequestId() };
      await second.runs.begin({ ...next, before: [{ role: 'user', content: 'Before' }] });
      expect((await backend.runs.read(next)).run?.input).toEqual([HELLO]);
    });

    it('keeps when and under which term each step and call was first and last written, and all owners', async () => {
      const { backend, second } = contract.pods;
      const turn = await begun(backend);
      const call = { toolCallId: 'call_1', toolName: 'book', step: 0, state: 'intended' } as const;
      const step = { messages: [], finishReason: 'tool-calls' };
      const asked = [{ type: 'step', index: 0, step } as const, { type: 'call', call } as const];
      await backend.runs.write(turn, textWrite(2, 2, { notes: asked }));
      await second.runs.takeOver(turn, 1, 'pod-b');
      const returned = [{ type: 'call', call: { ...call, state: 'returned' } } as const];
      await second.runs.write(turn, textWrite(3, 3, { term: 2, notes: returned }));
      await second.runs.write(turn, { ...textWrite(4, 4, { term: 2 }), detach: { questions: [], runs: [] } });
      const { times, startedAt = 0 } = (await backend.runs.read(turn)).run ?? {};
      expect(times?.owners.map(({ term, owner }) => [term, owner])).toEqual([
        [1, 'pod-a'],
        [2, 'pod-b'],
        [3, DETACHED],
      ]);
      const [first, last] = times?.calls.get('call_1') ?? [];
      expect([first?.term, last?.term]).toEqual([1, 2]);
      expect(times?.steps.get(0)).toEqual([first, first]);
      const marks = [startedAt, first?.at, times?.owners[1]?.since, last?.at, times?.owners[2]?.since];
      expect(marks).toEqual([...marks].sort((a, b) => (a ?? 0) - (b ?? 0)));
    });

    it('keeps a note for each of many calls in one write', async () => {
      const { backend, second } = contract.pods;
      const turn = await begun(backend);
      const callOf = (at: number) =>
        ({ toolCallId: `call_${at}`, toolName: 'book', step: 0, state: 'intended' }) as const;
      const notes = Array.from({ length: 5_000 }, (_, at) => ({ type: 'call', call: callOf(at) }) as const);
      expect(await backend.runs.write(turn, textWrite(2, 2, { notes }))).toBe('written');
      expect((await second.runs.read(turn)).run?.calls).toHaveLength(notes.length);
    });

    it('is taken over by one of two pods that claim it at once', async () => {
      const { backend, second } = contract.pods;
      const turn = await begun(backend);
      const terms = await Promise.all([
        backend.runs.takeOver(turn, 1, 'pod-b'),
        second.runs.takeOver(turn, 1, 'pod-c'),
      ]);
      expect(terms.filter((term) => term === 2)).toHaveLength(1);
      expect(terms.filter((term) => term === undefined)).toHaveLength(1);
    });

    it('counts owners that die, and those that die soon until one dies late after a step', async () => {
      const { backend, second, settings } = await contract.openWith({});
      const turn = await begun(backend);
      const stepOf = (index: number): RunNote => ({
        type: 'step',
        index,
        step: { messages: [], finishReason: 'stop' },
      });
      const [soon, late] = [600_000, 0];
      let term = 1;
      for (const { to, diedSoonMs, steps = [], deaths, takeOvers } of [
        { to: 'pod-b', diedSoonMs: soon, deaths: 1, takeOvers: 1 },
        { to: 'pod-c', diedSoonMs: soon, deaths: 2, takeOvers: 2 },
        { to: UNOWNED, diedSoonMs: late, deaths: 2, takeOvers: 2 },
        { to: 'pod-d', diedSoonMs: soon, deaths: 2, takeOvers: 2 },
        { to: 'pod-e', diedSoonMs: late, deaths: 2, takeOvers: 3 },
        { to: 'pod-f', diedSoonMs: soon, steps: [0], deaths: 3, takeOvers: 4 },
        { to: 'pod-g', diedSoonMs: late, deaths: 3, takeOvers: 5 },
        { to: 'pod-h', diedSoonMs: late, steps: [1, 2], deaths: 0, takeOvers: 6 },
        { to: 'pod-i', diedSoonMs: soon, steps: [2], deaths: 1, takeOvers: 7 },
        { to: 'pod-j', diedSoonMs: late, steps: [2], deaths: 1, takeOvers: 8 },
      ]) {
        // Both pods read their settings with each call.
        Object.assign(settings, { diedSoonMs });
        await backend.runs.write(turn, textWrite(term + 1, term + 1, { term, notes: steps.map(stepOf) }));
        expect(await backend.runs.takeOver(turn, term, to)).toBe(term + 1);
        expect(await backend.runs.takeOver(turn, term, to)).toBe(term + 1);
        expect(await second.runs.standing(turn)).toMatchObject({ owner: to, deaths, takeOvers });
        term += 1;
      }
      expect((await second.runs.read(turn)).run).toMatchObject({ deaths: 1, takeOvers: 8 });
    });

    it('appends its events once and in order, however often a write is repeated', async () => {
      const { backend, second } = contract.pods;
      const turn = await begun(backend);
      for (const [from, to] of [
        [2, 5],
        [2, 5],
        [4, 8],
        [3, 6],
        [9, 9],
      ] as const) {
        expect(await backend.runs.write(turn, textWrite(from, to))).toBe('written');
      }
      expect(await textsOf(second, turn)).toEqual(['turn-started', '2', '3', '4', '5', '6', '7', '8', '9']);
      expect((await second.runs.read(turn)).run?.writerSeq).toBe(9);
    });

    it('of a delegate takes its conversation with it when its retention ends', async () => {
      const { backend, second } = await contract.openWith({ retentionMs: 300 });
      const owner = newOwner();
      const [root, delegate] = [turnOf(owner), turnOf(owner, 'sr_its_own')];
      const parent = { streamRequestId: root.streamRequestId, toolCallId: 'call_1' };
      await backend.runs.begin(root);
      await backend.runs.begin({ ...delegate, parent });
      for (const turn of [root, delegate])
        await backend.runs.write(turn, textWrite(2, 2, { end: { status: 'finished', messages: [] } }));
      await waitUntil(async () => (await second.conversations.read(delegate)).last === undefined, {
        what: 'the end of its conversation',
      });
      expect((await second.conversations.read(root)).last).toMatchObject({
        streamRequestId: root.streamRequestId,
      });
    });

    it('is added to the history of its conversation, which keeps a limited number of messages', async () => {
      const { backend } = await contract.openWith({ historyMessagesMax: 4 });
      const owner = newOwner();
      for (let index = 0; index < 3; index += 1) {
        const turn = await begun(backend, owner);
        const messages: Message[] = [
          { role: 'user', content: `q${index}` },
          { role: 'assistant', content: `a${index}` },
        ];
        await backend.runs.write(turn, textWrite(2, 2, { end: { status: 'finished', messages } }));
      }
      const { messages } = await backend.conversations.read({ ...owner, conversationId: 'talk' });
      expect(messages.map(({ content }) => content)).toEqual(['q1', 'a1', 'q2', 'a2']);
    });

    it('is added to the history of its conversation, which keeps a limited number of bytes, and always the latest turn', async () => {
      const { backend } = await contract.openWith({ historyBytesMax: 1_000 });
      const owner = newOwner();
      const textsAfter = async (text: string) => {
        const turn = await begun(backend, owner);
        const messages: Message[] = [
          { role: 'user', content: text },
          { role: 'assistant', content: 'Yes.' },
        ];
        await backend.runs.write(turn, textWrite(2, 2, { end: { status: 'finished', messages } }));
        const stored = await backend.conversations.read({ ...owner, conversationId: 'talk' });
        return stored.messages.map(({ content }) => content);
      };
      const [one, two, three, four] = ['1', '2', '3', '4'].map((name) => name.repeat(300));
      expect(await textsAfter(one ?? '')).toEqual([one, 'Yes.']);
      expect(await textsAfter(two ?? '')).toEqual([one, 'Yes.', two, 'Yes.']);
      expect(await textsAfter(three ?? '')).toEqual(['Yes.', two, 'Yes.', three, 'Yes.']);
      const large = 'x'.repeat(2_000);
      expect(await textsAfter(large)).toEqual([large, 'Yes.']);
      expect(await textsAfter(four ?? '')).toEqual(['Yes.', four, 'Yes.']);
    });

    it('is added to the history of its conversation, in which images have a limit of their own', async () => {
      const { backend } = await contract.openWith({ historyBytesMax: 1_000, historyImageBytesMax: 1_000 });
      const owner = newOwner();
      const historyAfter = async (name: string, data: string) => {
        const turn = await begun(backend, owner);
        const content = [
          { type: 'text', text: `${name} "data":"` },
          { type: 'file', mediaType: 'image/png', data },
        ];
        const messages: Message[] = [
          { role: 'user', content },
          { role: 'assistant', content: name },
        ];
        await backend.runs.write(turn, textWrite(2, 2, { end: { status: 'finished', messages } }));
        const stored = await backend.conversations.read({ ...owner, conversationId: 'talk' });
        return stored.messages.map(({ role, content }) => (role === 'user' ? 'asked' : content));
      };
      const image = 'x'.repeat(450);
      expect(await historyAfter('one', image)).toEqual(['asked', 'one']);
      expect(await historyAfter('two', image)).toEqual(['asked', 'one', 'asked', 'two']);
      expect(await historyAfter('three', image)).toEqual(['one', 'asked', 'two', 'asked', 'three']);
      const large = 'x'.repeat(2_000);
      expect(await historyAfter('four', large)).toEqual(['asked', 'four']);
      expect(await historyAfter('five', image)).toEqual(['four', 'asked', 'five']);
    });

    it('keeps all its events while it runs, however many questions its feed has', async () => {
      const { backend } = await contract.openWith({ feedEventsMax: 10 });
      const engine = engineOn(backend);
      const turn = await begun(backend);
      const { tenant, userId, streamRequestId } = turn;
      for (let from = 2; from < 302; from += 100) {
        await backend.runs.write(turn, textWrite(from, from + 99));
        await engine.ask({ tenant, input: { ...inputFor({ tenant, userId }), streamRequestId } });
      }
      expect(await readEntries(backend.feed, turn)).toHaveLength(304);
    });

    it('is replayed completely, whatever its length', async () => {
      const { pods, second } = contract;
      const turn = await begun(pods.backend);
      for (let from = 2; from < 1_202; from += 200)
        await pods.backend.runs.write(turn, textWrite(from, from + 199));
      const numbers: number[] = [];
      for await (const { position } of second.replay(turn)) numbers.push(eventNumberOf(position));
      expect(numbers).toEqual(Array.from({ length: 1_201 }, (_, index) => index + 1));
    });

    it('has a live owner as long as that pod sends heartbeats', async () => {
      const { backend, second } = contract.pods;
      const pod = `pod-${newOwner().userId}`;
      expect(await second.heartbeats.alive(pod)).toBe(false);
      await backend.heartbeats.beat(pod, 3_000);
      expect(await second.heartbeats.alive(pod)).toBe(true);
      await waitUntil(async () => !(await second.heartbeats.alive(pod)), { what: 'the beat to lapse' });
    });

    it('keeps its conversation while it runs or waits, however short the conversation’s retention is', async () => {
      const { backend } = await contract.openWith({ conversationTtlMs: 3_000 });
      const over = { end: { status: 'finished', messages: [HELLO] } } as const;
      const idle = await begun(backend);
      const first = await begun(backend);
      const next = { ...first, streamRequestId: `${first.streamRequestId}-next` };
      await backend.runs.write(first, textWrite(2, 2, over));
      await backend.runs.begin(next);
      await backend.runs.write(idle, textWrite(2, 2, over));
      const isGone = async () => (await backend.conversations.read(idle)).messages.length === 0;
      await waitUntil(isGone, { what: 'a conversation in which nothing runs' });
      const stands = { running: next.streamRequestId, messages: [HELLO] };
      expect(await backend.conversations.read(next)).toMatchObject(stands);
      await backend.runs.write(next, { ...textWrite(2, 2), detach: { questions: [], runs: [] } });
      expect(await backend.conversations.read(next)).toMatchObject(stands);
    });

    it('is deleted after its retention, and its conversation after its own', async () => {
      const { backend } = await contract.openWith({ retentionMs: 300, conversationTtlMs: 900 });
      const turn = await begun(backend);
      await backend.runs.write(turn, textWrite(2, 2, { end: { status: 'finished', messages: [HELLO] } }));
      await waitUntil(async () => (await backend.runs.read(turn)).run === undefined, { what: 'the run' });
      expect((await backend.feed.read(turn, undefined, 10)).type).toBe('none');
      await waitUntil(async () => (await backend.conversations.read(turn)).messages.length === 0, {
        what: 'the conversation',
      });
    });
  });
}
