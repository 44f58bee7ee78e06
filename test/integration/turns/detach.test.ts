import { setTimeout as sleep } from 'node:timers/promises';
import { ParleyError } from '@parley/core/domain/errors';
import { DETACHED, type RunRef, UNOWNED } from '@parley/shared/domain/runs/run';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import { expect, it } from 'vitest';
import { createDelegateTool } from '../../../services/api/src/agents/delegation/delegate-tool.ts';
import type { Tool } from '../../../services/api/src/agents/run/tool.ts';
import type { ScriptedReply, Turn } from '../../../stand-ins/scripted-model/script.ts';
import { describeOnRedis } from '../../harness/engines/describe-on-redis.ts';
import { readEntries } from '../../harness/engines/observe.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { elicit, type TestPod } from '../../harness/turns/setup.ts';
import { modelOf, worldOn } from '../../harness/turns/site.ts';
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

const model = modelOf(line);

const AGENTS = {
  boss: { tools: [elicit, ...delegates, asking('out', true), asking('back', false), asking('flaky', false)] },
  left: { tools: [elicit] },
  right: { tools: [elicit] },
};

await describeOnRedis('turns that are detached', (pods) => {
  /** A person with turns on pods that have connections of their own. */
  function open(more: TestPod = {}) {
    const world = worldOn(model, { agents: AGENTS, ...more }, pods.backend, pods.second);
    return {
      ...world,
      join: (options: TestPod = {}) => world.pod({ pod: 'other', ...options }, pods.second),
      states: async (run: RunRef) => (await world.record(run))?.calls.map(({ state }) => state) ?? [],
      kinds: async (run: RunRef) => (await world.events(run)).map(({ type }) => type),
      isDetached: (run: RunRef, times = 1) =>
        waitUntil(
          async () => {
            const kinds = (await world.events(run)).filter(({ type }) => type === 'turn-detached');
            return (await world.standing(run))?.owner === DETACHED && kinds.length === times;
          },
          { what: `the turn to be detached ${times} times` },
        ),
    };
  }

  /** A turn on a pod of its own, which leaves once the turn is detached. */
  async function detached(text: string, questions: number, more: TestPod = {}) {
    const opened = open(more);
    const own = opened.pod({ pod: 'first' });
    const run = await own.turns.begin({ ...opened.saying(text), delivery: 'detach' });
    await opened.isDetached(run);
    const asked = await opened.open();
    expect(asked).toHaveLength(questions);
    await own.turns.close();
    return { ...opened, run, questions: asked.map(({ id }) => id) };
  }

  it('a turn that asks twice at once continues with each answer, and is detached in between', async () => {
    const turn = await detached('ask and ask', 2);
    const { run, questions, answer } = turn;
    turn.join();
    await answer(questions[0], 'accept', 'one');
    await turn.isDetached(run, 2);
    expect((await turn.states(run)).sort()).toEqual(['intended', 'returned']);
    await answer(questions[1], 'decline');
    expect(await turn.ended(run)).toBe('finished');
    expect(await turn.text(run)).toContain('one');
    expect(await turn.open()).toEqual([]);
  });

  it.each(['same-pod', 'any-pod'] as const)(
    'waiting delegates are detached together with their caller (%s)',
    async (place) => {
      const turn = await detached('left and right and ask', 3, { delegates: place });
      turn.join();
      for (const [index, id] of turn.questions.entries()) await turn.answer(id, 'accept', `answer ${index}`);
      expect(await turn.ended(turn.run)).toBe('finished');
      for (const index of [0, 1, 2]) expect(await turn.text(turn.run)).toContain(`answer ${index}`);
      expect(await turn.states(turn.run)).toEqual(['returned', 'returned', 'returned']);
    },
  );

  it('a detached turn is stopped from any pod: its questions are withdrawn and it ends', async () => {
    const { run, questions, join, conversation, ended } = await detached('ask and left', 2);
    expect(await join().turns.stop(conversation)).toBe(true);
    expect(await ended(run)).toBe('stopped');
    const rows = await Promise.all(questions.map((id) => pods.second.elicitations.read(id)));
    expect(rows.map(({ row }) => row?.status)).toEqual(['withdrawn', 'withdrawn']);
  });

  it.each([
    ['ask', 1],
    ['ask and ask', 2],
    ['left', 1],
  ])('a turn (%s) whose resume was lost is found by recovery', async (text, count) => {
    const turn = await detached(text, count);
    const { run, questions } = turn;
    const id = questions[0] ?? '';
    const { row } = await pods.second.elicitations.read(id);
    if (row === undefined) throw new Error('There is no question.');
    const settled = await pods.second.elicitations.commit(row, {
      status: 'cancelled',
      guard: 'open',
      settlement: { action: 'cancel' },
      event: { type: 'elicitation-resolved', elicitationId: id, revision: 2, status: 'cancelled' },
    });
    for (const task of settled.noted ?? []) await pods.second.outbox.remove(task);
    const { streamRequestId } = run;
    const other = turn.join();
    expect(await other.turns.resumable(turn.conversation, undefined)).toMatchObject({ streamRequestId });
    if (count === 2) {
      await turn.isDetached(run, 2);
      await turn.answer(questions[1], 'decline');
    }
    expect(await turn.ended(run)).toBe('finished');
  });

  it('a turn is not detached when its answer is already recorded', async () => {
    const { run, questions, pod, states, answer, ended, text } = await detached('ask and ask', 2);
    const { elicitations } = pods.second;
    let stalls = 0;
    // Longer than a turn of this kind waits before its pod detaches it.
    const read: typeof elicitations.read = async (id) => {
      const reading = await elicitations.read(id);
      stalls += 1;
      await sleep(250);
      return reading;
    };
    pod({ pod: 'slow' }, { ...pods.second, elicitations: { ...elicitations, read } });
    await answer(questions[0], 'accept', 'heard');
    await waitUntil(async () => (await states(run)).includes('returned'), { what: 'the first result' });
    await waitUntil(() => stalls > 0, { what: 'a slow read of a question' });
    await answer(questions[1], 'decline');
    expect(await ended(run)).toBe('finished');
    expect(await text(run)).toContain('heard');
  });

  it('a question of a call that is decided without it does not delay the turn, and is withdrawn', async () => {
    const {
      run,
      join,
      open: listed,
      standing,
      isDetached,
      answer,
      ended,
    } = await detached('flaky and ask', 2);
    const rows = await listed();
    const flaky = rows.find(({ definition }) => definition.message === 'Sure?')?.id ?? '';
    join({ agents: { ...AGENTS, boss: { tools: [elicit] } } });
    // Something else wakes it: the call is then of a tool that there is no more.
    const term = (await standing(run))?.term ?? 0;
    await pods.second.runs.takeOver(run, term, UNOWNED);
    await pods.second.runQueue.offer(run, term + 1);
    await isDetached(run, 2);
    expect((await pods.second.elicitations.read(flaky)).row?.status).toBe('withdrawn');
    await answer(rows.find(({ id }) => id !== flaky)?.id, 'accept', 'Yes');
    expect(await ended(run)).toBe('finished');
  });

  it('the caller of a detached delegate uses no working time in the meantime', async () => {
    const waitedMs = 1_000;
    const { pod, saying, isDetached, open: listed, answer, ended, record } = open({ delegates: 'any-pod' });
    const since = performance.now();
    const run = await pod({ holdMs: 300 }).turns.begin(saying('left'));
    await isDetached(run);
    await sleep(waitedMs);
    const [asked] = await listed();
    await answer(asked?.id, 'accept', 'late');
    expect(await ended(run)).toBe('finished');
    const workedMs = (await record(run))?.steps.at(-1)?.workedMs;
    expect(workedMs).toBeLessThanOrEqual(performance.now() - since - waitedMs);
  });

  it('a turn that could not be detached at once is detached later', async () => {
    const { pod, saying, asked, join, answer, ended } = open();
    const { runs, runQueue } = pods.backend;
    let refusals = 2;
    const refusing =
      <T extends unknown[], R>(call: (...args: T) => Promise<R>) =>
      async (...args: T): Promise<R> => {
        refusals -= 1;
        if (refusals >= 0) throw new ParleyError('unavailable', 'Away.');
        return call(...args);
      };
    const nothing = () => undefined;
    const own = pod({
      pod: 'leaving',
      runs: { ...runs, takeOver: refusing(runs.takeOver) },
      runQueue: {
        ...runQueue,
        offer: refusing(runQueue.offer),
        consume: () => ({ pause: nothing, resume: nothing, close: async () => undefined }),
      },
    });
    const run = await own.turns.begin(saying('ask'));
    const [question] = await asked();
    await own.turns.close();
    expect(refusals).toBeLessThan(0);
    join();
    await answer(question?.id, 'accept', 'Yes');
    expect(await ended(run)).toBe('finished');
  });

  it('a reader that connects after the end is referred to the turn that was detached', async () => {
    const { run, questions, join, conversation, answer, ended } = await detached('ask', 1);
    const { turns } = join();
    expect(await turns.isWaiting(run)).toBe(true);
    await answer(questions[0], 'accept', 'Yes');
    expect(await ended(run)).toBe('finished');
    expect(await turns.isWaiting(run)).toBe(false);
    const { streamRequestId } = run;
    expect(await turns.resumable(conversation, undefined)).toMatchObject({ streamRequestId });
    expect((await pods.second.conversations.read(conversation)).running).toBeUndefined();
    const positions = (await readEntries(pods.second.feed, run)).map(({ position }) => position);
    expect(await turns.resumable(conversation, positions.at(-2))).toMatchObject({ streamRequestId });
    expect(await turns.resumable(conversation, positions.at(-1))).toBeUndefined();
    expect(await turns.resumable(conversation, { epoch: '17', seq: 1 })).toBeUndefined();
  });

  it('a dispatched call keeps the turn on its pod; one that returned unexecuted does not', async () => {
    const [stays, goes] = [open(), open()];
    const { turns } = stays.pod({ pod: 'first', holdMs: 100 });
    const kept = await turns.begin(stays.saying('out'));
    await stays.asked();
    const released = await turns.begin(goes.saying('back'));
    await goes.isDetached(released);
    expect((await stays.standing(kept))?.owner).toMatch(/^first\//);
    for (const { answer, asked } of [stays, goes]) await answer((await asked())[0]?.id, 'decline');
    expect([await stays.ended(kept), await goes.ended(released)]).toEqual(['finished', 'finished']);
    expect(await stays.kinds(kept)).not.toContain('turn-detached');
  });
});

it('a turn whose feed was deleted by retention cannot be resumed, though its conversation knows it', async () => {
  const world = worldOn(model, { agents: AGENTS }, createMemoryBackend({ ...ROOMY, retentionMs: 1_000 }));
  const { turns } = world.pod();
  const run = await turns.begin({ ...world.saying('ask'), delivery: 'detach' });
  await waitUntil(async () => (await world.standing(run))?.owner === DETACHED, { what: 'the detaching' });
  await world.answer((await world.open())[0]?.id, 'decline');
  const resumable = () => turns.resumable(world.conversation, undefined);
  await waitUntil(resumable, { what: 'the end, or the turn' });
  await waitUntil(async () => (await resumable()) === undefined, { what: 'the feed to leave' });
  const { last } = await world.backend.conversations.read(world.conversation);
  expect(last).toMatchObject({ wasDetached: true });
});
