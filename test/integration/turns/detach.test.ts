import { setTimeout as sleep } from 'node:timers/promises';
import { ParleyError } from '@parley/shared/domain/errors';
import { DETACHED, type RunRef, UNOWNED } from '@parley/shared/domain/runs/run';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ScriptedReply, Turn } from '../../../infra/demo/stand-ins/scripted-model/script.ts';
import {
  type ScriptedModel,
  startScriptedModel,
} from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';
import { createDelegateTool } from '../../../services/api/src/agents/delegation/delegate-tool.ts';
import type { Tool } from '../../../services/api/src/agents/tools/tool.ts';
import { engineOn } from '../../harness/engines/engines.ts';
import { memoryStore } from '../../harness/engines/memory-pods.ts';
import { readEntries } from '../../harness/engines/observe.ts';
import type { Pods, Store } from '../../harness/engines/pods.ts';
import { answerQuestion } from '../../harness/engines/questions.ts';
import { openRedisPods } from '../../harness/engines/redis-pods.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { suiteNotRun } from '../../harness/not-run.ts';
import { findRedis } from '../../harness/redis/find-redis.ts';
import {
  elicit,
  listOpen,
  podOn,
  readEvents,
  saying,
  type TestPod,
  talk,
} from '../../harness/turns/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const TOOLS = ['out', 'back', 'flaky'];
const ask = (message: string) => ({ name: 'elicit', arguments: { kind: 'text', message } });
const to = (agent: string) => ({ name: `delegate_to_${agent}`, arguments: { task: 'Ask.' } });

/** The boss asks, or lets delegates ask, as often as the user's text demands. */
function line({ system, userText, results }: Turn): ScriptedReply {
  const said = results.map(({ text }) => text).join(' ');
  if (system !== 'boss') return results.length === 0 ? { calls: [ask(`${system}?`)] } : { text: `(${said})` };
  if (results.length > 0) return { text: `Heard: ${said}` };
  const calls = userText
    .split(' and ')
    .map((word) =>
      word === 'ask' ? ask('You?') : TOOLS.includes(word) ? { name: word, arguments: {} } : to(word),
    );
  return { text: 'Let me see. ', calls };
}

const delegates: Tool[] = ['left', 'right'].map((agent) =>
  createDelegateTool({ agent, title: `The ${agent}`, description: 'Helps.' }),
);

/** Asks while its call is out, as a tool's server does; or once that came back undone. */
const asking = (name: string, isOut: boolean): Tool => ({
  name,
  description: 'Asks.',
  inputSchema: { type: 'object' },
  async call(call) {
    await call.beforeDispatch();
    if (!isOut) await call.notExecuted();
    const { status } = await call.ask(0, { mode: 'form', message: 'Sure?', ...FORM });
    return { type: 'returned', output: status };
  },
});
const FORM = {
  requestedSchema: { type: 'object', properties: { answer: { type: 'string' } } },
  timeoutSeconds: 600,
} as const;

let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel({ script: [line] });
});
afterAll(() => model.stop());

const AGENTS = {
  boss: { tools: [elicit, ...delegates, asking('out', true), asking('back', false), asking('flaky', false)] },
  left: { tools: [elicit] },
  right: { tools: [elicit] },
};

function detachingOn(name: string, store: Pick<Store, 'open'>): void {
  describe(name, () => {
    let pods: Pods;
    beforeAll(async () => {
      pods = await store.open(ROOMY);
    });
    afterAll(() => pods.close());
    const closing: (() => Promise<void>)[] = [];
    afterEach(async () => {
      await Promise.all(closing.splice(0).map((close) => close()));
    });

    function join(pod: string, more: TestPod = {}, on: 'backend' | 'second' = 'second') {
      const leaseTiming = { renewMs: 50, leaseMs: 2_000 };
      const joined = podOn(pods[on], model, { leaseTiming, agents: AGENTS, pod, ...more });
      closing.push(() => joined.turns.close());
      return joined;
    }

    /** A turn on a pod of its own, which leaves once the turn is detached. */
    async function detached(text: string, questions: number, more: TestPod = {}) {
      const conversation = talk();
      const own = join('first', more, 'backend');
      const run = await own.turns.begin({ ...saying(conversation, text), delivery: 'detach' });
      await isDetached(run);
      const asked = await listOpen(own.engine, conversation);
      expect(asked).toHaveLength(questions);
      await own.turns.close();
      return { conversation, own, run, asked };
    }

    const isDetached = (run: RunRef, times = 1) =>
      waitUntil(
        async () => {
          const standing = await pods.second.runs.standing(run);
          const detachments = (await readEvents(pods.second, run)).filter(
            ({ type }) => type === 'turn-detached',
          );
          return standing?.owner === DETACHED && detachments.length === times;
        },
        { what: `the turn to be detached ${times} times` },
      );

    const stateOf = async (run: RunRef) =>
      (await pods.second.runs.read(run)).run?.calls.map(({ state }) => state) ?? [];

    const endOf = (run: RunRef) =>
      waitUntil(
        async () => {
          const standing = await pods.second.runs.standing(run);
          return standing?.status === 'running' ? undefined : standing?.status;
        },
        { what: 'the end' },
      );

    const textOf = async (run: RunRef) =>
      (await readEvents(pods.second, run)).map((event) => ('text' in event ? event.text : '')).join('');

    it('a waiting turn is detached; the answer, on any pod, lets another pod complete it', async () => {
      const { conversation, run, asked } = await detached('ask', 1);
      const other = join('other');
      await answerQuestion(other.engine, conversation, asked[0]?.id ?? '', 'accept', { answer: 'Yes' });
      expect(await endOf(run)).toBe('finished');
      expect(await textOf(run)).toMatch(/^Let me see\. Heard: .*"Yes".*/);
      expect((await pods.second.runs.read(run)).run?.owner).toMatch(/^other\//);
      const kinds = (await readEvents(pods.second, run)).map(({ type }) => type);
      expect(kinds.indexOf('turn-detached')).toBeLessThan(kinds.indexOf('turn-attached'));
      expect(kinds.filter((kind) => kind === 'tool-called')).toHaveLength(1);
    });

    it('a turn that asks twice at once continues with each answer, and is detached in between', async () => {
      const { conversation, run, asked } = await detached('ask and ask', 2);
      const other = join('other');
      await answerQuestion(other.engine, conversation, asked[0]?.id ?? '', 'accept', { answer: 'one' });
      await isDetached(run, 2);
      expect((await pods.second.runs.read(run)).run?.calls.map(({ state }) => state).sort()).toEqual([
        'intended',
        'returned',
      ]);
      await answerQuestion(other.engine, conversation, asked[1]?.id ?? '', 'decline');
      expect(await endOf(run)).toBe('finished');
      expect(await textOf(run)).toContain('one');
      expect(await listOpen(other.engine, conversation)).toEqual([]);
    });

    it.each(['same-pod', 'any-pod'] as const)(
      'waiting delegates are detached together with their caller (%s)',
      async (place) => {
        const { conversation, run, asked } = await detached('left and right and ask', 3, {
          delegates: place,
        });
        const other = join('other', { delegates: place });
        for (const [index, row] of asked.entries()) {
          await answerQuestion(other.engine, conversation, row.id, 'accept', { answer: `answer ${index}` });
        }
        expect(await endOf(run)).toBe('finished');
        for (const index of [0, 1, 2]) expect(await textOf(run)).toContain(`answer ${index}`);
        const { calls = [] } = (await pods.second.runs.read(run)).run ?? {};
        expect(calls.map(({ state }) => state)).toEqual(['returned', 'returned', 'returned']);
      },
    );

    it('a detached turn is stopped from any pod: its questions are withdrawn and it ends', async () => {
      const { conversation, run, asked } = await detached('ask and left', 2);
      const other = join('other');
      expect(await other.turns.stop(conversation)).toBe(true);
      expect(await endOf(run)).toBe('stopped');
      const rows = await Promise.all(asked.map(({ id }) => pods.second.elicitations.read(id)));
      expect(rows.map(({ row }) => row?.status)).toEqual(['withdrawn', 'withdrawn']);
    });

    it('a turn in the same conversation is refused while one is detached', async () => {
      const { conversation, run, asked } = await detached('ask', 1);
      const other = join('other');
      await expect(other.turns.begin(saying(conversation, 'ask'))).rejects.toMatchObject({
        code: 'turn_running',
      });
      expect(await pods.second.runs.standing(run)).toMatchObject({ owner: DETACHED });
      await answerQuestion(other.engine, conversation, asked[0]?.id ?? '', 'cancel');
      expect(await endOf(run)).toBe('finished');
    });

    it.each([
      ['ask', 1],
      ['ask and ask', 2],
      ['left', 1],
    ])('a turn (%s) whose resume was lost is found by recovery', async (text, questions) => {
      const { conversation, run, asked } = await detached(text, questions);
      const id = asked[0]?.id ?? '';
      const { row } = await pods.second.elicitations.read(id);
      if (row === undefined) throw new Error('There is no question.');
      const settled = await pods.second.elicitations.commit(row, {
        status: 'cancelled',
        guard: 'open',
        settlement: { action: 'cancel' },
        event: { type: 'elicitation-resolved', elicitationId: id, revision: 2, status: 'cancelled' },
      });
      for (const task of settled.noted ?? []) await pods.second.outbox.remove(task);
      const other = join('other');
      expect(await other.turns.resumable(conversation, undefined)).toMatchObject({
        streamRequestId: run.streamRequestId,
      });
      if (questions === 2) {
        await isDetached(run, 2);
        await answerQuestion(other.engine, conversation, asked[1]?.id ?? '', 'decline');
      }
      expect(await endOf(run)).toBe('finished');
    });

    it('a turn is not detached when its answer is already recorded', async () => {
      const { conversation, run, asked } = await detached('ask and ask', 2);
      const { second } = pods;
      let stalls = 0;
      const slow = {
        ...second,
        elicitations: {
          ...second.elicitations,
          // Longer than a turn of this kind waits before its pod detaches it.
          async read(id: string) {
            const reading = await second.elicitations.read(id);
            stalls += 1;
            await sleep(250);
            return reading;
          },
        },
      };
      const other = podOn(slow, model, {
        leaseTiming: { renewMs: 50, leaseMs: 2_000 },
        agents: AGENTS,
        pod: 'slow',
      });
      closing.push(() => other.turns.close());
      await answerQuestion(engineOn(pods.backend), conversation, asked[0]?.id ?? '', 'accept', {
        answer: 'heard',
      });
      await waitUntil(async () => (await stateOf(run)).includes('returned'), { what: 'the first result' });
      expect(stalls).toBeGreaterThan(0);
      await answerQuestion(other.engine, conversation, asked[1]?.id ?? '', 'decline');
      expect(await endOf(run)).toBe('finished');
      expect(await textOf(run)).toContain('heard');
    });

    it('a question of a call that is decided without it does not delay the turn, and is withdrawn', async () => {
      const { conversation, run, asked } = await detached('flaky and ask', 2);
      const flaky = asked.find(({ definition }) => definition.message === 'Sure?')?.id ?? '';
      const other = join('other', { agents: { ...AGENTS, boss: { tools: [elicit] } } });
      const own = asked.find(({ id }) => id !== flaky)?.id ?? '';
      // Something else wakes it: the call is then of a tool that there is no more.
      const standing = await pods.second.runs.standing(run);
      await pods.second.runs.takeOver(run, standing?.term ?? 0, UNOWNED);
      await pods.second.runQueue.offer(run, (standing?.term ?? 0) + 1);
      await isDetached(run, 2);
      expect((await pods.second.elicitations.read(flaky)).row?.status).toBe('withdrawn');
      await answerQuestion(other.engine, conversation, own, 'accept', { answer: 'Yes' });
      expect(await endOf(run)).toBe('finished');
    });

    it('the caller of a detached delegate uses no working time meanwhile', async () => {
      const workMs = 5_000;
      const agents = { ...AGENTS, boss: { ...AGENTS.boss, limits: { workMs } } };
      const conversation = talk();
      const own = join('first', { delegates: 'any-pod', holdMs: 300, agents }, 'backend');
      const since = performance.now();
      const run = await own.turns.begin(saying(conversation, 'left'));
      await isDetached(run);
      await waitUntil(() => performance.now() - since > workMs, { what: 'more time than the turn may work' });
      const [asked] = await listOpen(own.engine, conversation);
      await answerQuestion(own.engine, conversation, asked?.id ?? '', 'accept', { answer: 'late' });
      expect(await endOf(run)).toBe('finished');
    });

    it('a turn that could not be detached at once is detached later', async () => {
      const { backend } = pods;
      let refusals = 2;
      const refusing =
        <T extends unknown[], R>(call: (...args: T) => Promise<R>) =>
        async (...args: T): Promise<R> => {
          refusals -= 1;
          if (refusals >= 0) throw new ParleyError('unavailable', 'Away.');
          return call(...args);
        };
      const conversation = talk();
      const { runs, runQueue } = backend;
      const own = podOn(
        {
          ...backend,
          runs: { ...runs, takeOver: refusing(runs.takeOver) },
          runQueue: {
            ...runQueue,
            offer: refusing(runQueue.offer),
            consume: () => ({
              pause: () => undefined,
              resume: () => undefined,
              close: async () => undefined,
            }),
          },
        },
        model,
        { agents: AGENTS, pod: 'leaving' },
      );
      const run = await own.turns.begin(saying(conversation, 'ask'));
      await waitUntil(async () => (await listOpen(own.engine, conversation)).length === 1, {
        what: 'the question',
      });
      await own.turns.close();
      expect(refusals).toBeLessThan(0);
      const other = join('other');
      const [asked] = await listOpen(other.engine, conversation);
      await answerQuestion(other.engine, conversation, asked?.id ?? '', 'accept', { answer: 'Yes' });
      expect(await endOf(run)).toBe('finished');
    });

    it('a reader that connects after the end is referred to the turn that was detached', async () => {
      const { conversation, run, asked } = await detached('ask', 1);
      const other = join('other');
      expect(await other.turns.isWaiting(run)).toBe(true);
      await answerQuestion(other.engine, conversation, asked[0]?.id ?? '', 'accept', { answer: 'Yes' });
      expect(await endOf(run)).toBe('finished');
      expect(await other.turns.isWaiting(run)).toBe(false);
      const { streamRequestId } = run;
      expect(await other.turns.resumable(conversation, undefined)).toMatchObject({ streamRequestId });
      expect((await pods.second.conversations.read(conversation)).running).toBeUndefined();
      const positions = (await readEntries(pods.second.feed, run)).map(({ position }) => position);
      expect(await other.turns.resumable(conversation, positions.at(-2))).toMatchObject({ streamRequestId });
      expect(await other.turns.resumable(conversation, positions.at(-1))).toBeUndefined();
      expect(await other.turns.resumable(conversation, { epoch: '17', seq: 1 })).toBeUndefined();
    });

    it('a dispatched call keeps the turn on its pod; one that returned unexecuted does not', async () => {
      const own = join('first', { holdMs: 100 }, 'backend');
      const [kept, released] = [talk(), talk()];
      const stays = await own.turns.begin(saying(kept, 'out'));
      await waitUntil(async () => (await listOpen(own.engine, kept)).length === 1, { what: 'the question' });
      const goes = await own.turns.begin(saying(released, 'back'));
      await isDetached(goes);
      expect((await pods.second.runs.standing(stays))?.owner).toMatch(/^first\//);
      for (const conversation of [kept, released]) {
        const [asked] = await listOpen(own.engine, conversation);
        await answerQuestion(own.engine, conversation, asked?.id ?? '', 'decline');
      }
      expect(await Promise.all([endOf(stays), endOf(goes)])).toEqual(['finished', 'finished']);
      expect((await readEvents(pods.second, stays)).map(({ type }) => type)).not.toContain('turn-detached');
    });

    it('a turn is held as long as its pod holds turns, then detached', async () => {
      const conversation = talk();
      const own = join('first', { holdMs: 300 }, 'backend');
      const run = await own.turns.begin(saying(conversation, 'ask'));
      await isDetached(run);
      const [asked] = await listOpen(own.engine, conversation);
      // The same pod may well go on.
      await answerQuestion(own.engine, conversation, asked?.id ?? '', 'accept', { answer: 'late' });
      expect(await endOf(run)).toBe('finished');
      expect(own.faults).toEqual([]);
    });
  });
}

detachingOn('in memory', memoryStore);

it('a turn whose feed was deleted by retention cannot be resumed, though its conversation knows it', async () => {
  const backend = createMemoryBackend({ ...ROOMY, retentionMs: 200 });
  const own = podOn(backend, model, { agents: AGENTS });
  const conversation = talk();
  const run = await own.turns.begin({ ...saying(conversation, 'ask'), delivery: 'detach' });
  await waitUntil(async () => (await backend.runs.standing(run))?.owner === DETACHED, {
    what: 'the detaching',
  });
  const [asked] = await listOpen(own.engine, conversation);
  await answerQuestion(own.engine, conversation, asked?.id ?? '', 'decline');
  await waitUntil(() => own.turns.resumable(conversation, undefined), { what: 'the end, or the turn' });
  await waitUntil(async () => (await own.turns.resumable(conversation, undefined)) === undefined, {
    what: 'the feed to leave',
  });
  expect((await backend.conversations.read(conversation)).last).toMatchObject({ wasDetached: true });
  await own.turns.close();
});

const found = await findRedis();
if ('notRun' in found) {
  suiteNotRun('on Redis', found.notRun);
} else {
  const { url } = found;
  afterAll(() => found.stop());
  detachingOn('on Redis', { open: (settings) => openRedisPods({ kind: 'single', url }, settings) });
}
