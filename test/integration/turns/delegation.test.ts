import { ParleyError } from '@parley/core/domain/errors';
import type { Run, RunRef } from '@parley/shared/domain/runs/run';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import type { Backend } from '@parley/shared/ports/backend';
import type { RunQueue } from '@parley/shared/ports/runs/run-queue';
import type { Runs } from '@parley/shared/ports/runs/runs';
import { describe, expect, it } from 'vitest';
import { createDelegateTool } from '../../../services/api/src/agents/delegation/delegate-tool.ts';
import { FOR_ALL } from '../../../services/api/src/agents/mcp/visibility.ts';
import type { Tool } from '../../../services/api/src/agents/run/tool.ts';
import { withApproval } from '../../../services/api/src/agents/tools/approvals/gate.ts';
import { startInChat } from '../../../services/api/src/turns/approvals/message.ts';
import { readWaitingReply } from '../../../services/api/src/turns/approvals/waiting-reply.ts';
import type { ScriptedReply, Turn } from '../../../stand-ins/scripted-model/script.ts';
import { askQuestion } from '../../harness/engines/questions.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { elicit, posting, type TestAgent, type TestPod } from '../../harness/turns/setup.ts';
import { modelOf, worldOn } from '../../harness/turns/site.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const to = (agent: string, task: string) => ({ name: `delegate_to_${agent}`, arguments: { task } });
const ask = (message: string) => ({ name: 'elicit', arguments: { kind: 'text', message } });

/** The instructions of an agent are its id. The boss follows the user's text; the others delegate or ask. */
function line({ system, userText, results }: Turn): ScriptedReply {
  if (results.length > 0) return { text: `${system}(${results.map(({ text }) => text).join(' ')})` };
  const next = /^chain-(\d+)$/.exec(system);
  if (next !== null) return { calls: [to(`chain-${Number(next[1]) + 1}`, 'go on')] };
  switch (system) {
    case 'boss':
      return { calls: userText.split(' and ').map((agent) => to(agent, `for ${agent}`)) };
    case 'researcher':
      return { calls: [to('librarian', 'find it')] };
    case 'payer':
      return { calls: [{ name: 'pay', arguments: {} }] };
    case 'clumsy':
      return { calls: [ask('Clumsy?'), { name: 'break', arguments: {} }] };
    default:
      return { text: 'Asking. ', calls: [ask(`What of ${system}?`)] };
  }
}

const delegates = (...ids: string[]): Tool[] =>
  ids.map((agent) => createDelegateTool({ agent, title: `The ${agent}`, description: 'Helps.' }));

const model = modelOf(line, {
  fault: ({ body }) =>
    JSON.stringify(body.messages[0]).includes('speechless') ? { kind: 'refuse', status: 400 } : undefined,
});

const PAY = { name: 'pay', modelName: 'pay', description: 'Pays.', inputSchema: { type: 'object' } };
/** Its calls are made only after a person has approved them. */
const pay = withApproval(
  { ...PAY, call: async () => ({ type: 'returned', output: 'paid' }) },
  {
    policy: { rule: 'always', remember: undefined, demands: () => true },
    server: 'bank',
    serverTitle: 'Bank',
    source: {
      ...PAY,
      hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
      visibility: FOR_ALL,
    },
    timeoutSeconds: 600,
  },
);

const NOTIFY = { channel: 'slack', afterSeconds: 60 } as const;

const AGENTS: Readonly<Record<string, TestAgent>> = {
  boss: {
    tools: delegates(
      'researcher',
      'left',
      'right',
      'speechless',
      'broken',
      'clumsy',
      'brief',
      'chain-1',
      'payer',
    ),
    notify: NOTIFY,
  },
  researcher: { tools: delegates('librarian') },
  librarian: { tools: [elicit] },
  left: { tools: [elicit] },
  right: { tools: [elicit] },
  speechless: {},
  payer: { tools: [pay] },
  broken: { isBroken: true },
  brief: { limits: { steps: 1 } },
  ...Object.fromEntries(
    Array.from({ length: 8 }, (_, index) => [
      `chain-${index}`,
      { tools: delegates(`chain-${index + 1}`) } satisfies TestAgent,
    ]),
  ),
};

/** Where the delegates work. */
const PLACES = ['on the pod of the turn', 'on another pod'] as const;
type Place = (typeof PLACES)[number];

/** A queue of runs that this pod only offers to. */
const onlyOffering = ({ offer, withdraw }: RunQueue): RunQueue => ({
  offer,
  withdraw,
  consume: () => ({ pause: () => undefined, resume: () => undefined, close: async () => undefined }),
});

/** A turn of the boss, who delegates by the user's text, and another pod in addition to its own. */
async function beginAt(
  place: Place,
  text: string,
  agents: TestPod['agents'] = {},
  more: TestPod = {},
  backend: Backend = createMemoryBackend(ROOMY),
) {
  const isElsewhere = place === 'on another pod';
  const world = worldOn(
    model,
    { agents: { ...AGENTS, ...agents }, ...(isElsewhere && { delegates: 'any-pod' }), ...more },
    backend,
  );
  const own = world.pod(isElsewhere ? { runQueue: onlyOffering(backend.runQueue) } : {});
  const other = world.pod({ pod: 'other' });
  const run = await own.turns.begin(world.saying(text));
  return {
    ...world,
    own,
    other,
    run,
    record: () => world.record(run),
    events: () => world.events(run),
    text: () => world.text(run),
    ended: async () => {
      await world.ended(run);
      const record = await world.record(run);
      if (record === undefined) throw new Error('The turn is gone.');
      return record;
    },
    delegated: () => delegatedBy(backend, run),
    statuses: async () => (await delegatedBy(backend, run)).map(({ status }) => status),
    /** What the turn and its delegates have used. */
    async usage() {
      const end = (await world.events(run)).at(-1);
      return end?.type === 'turn-finished' ? end.usage : end;
    },
    /** The pod of the turn is dead, and the other pod has a reader of it. */
    async dieWatched() {
      other.turns.attend(run);
      world.dead.add((await world.standing(run))?.owner ?? '');
    },
  };
}

it.each(PLACES)('a message instead of an approval of a delegate %s ends the whole turn', async (place) => {
  const { engine, own, conversation, run, record, delegated, ended } = await beginAt(place, 'payer');
  const { tenant, userId } = conversation;
  const statuses = async () =>
    (await engine.approvals.list({ owner: { tenant, userId }, limit: 10 })).rows.map(({ status }) => status);
  const deps = { engine, turns: own.turns };
  const waits = async () => (await readWaitingReply(deps, run)) !== undefined;
  await waitUntil(waits, { what: 'the turn to wait for the approval alone' });
  const signal = AbortSignal.timeout(60_000);
  const next = await startInChat(deps, posting(conversation, 'left', 'boss'), { signal });
  expect(next.run.streamRequestId).not.toBe(run.streamRequestId);
  expect(await ended()).toMatchObject({ status: 'stopped', steps: [{}] });
  expect((await record())?.steps).toHaveLength(1);
  expect((await delegated()).map(({ status }) => status)).toEqual(['stopped']);
  expect(await statuses()).toEqual(['denied']);
});

describe('a delegate on another pod', () => {
  it('whose pod dies is resumed by another, its question still open, and what no record names is withdrawn', async () => {
    const turn = await beginAt('on another pod', 'left');
    const [asked] = await turn.asked();
    const [lost] = await turn.delegated();
    // The pod that dies has asked this one too, and no record names it.
    await askQuestion(turn.engine, turn.run, { conversationId: turn.conversation.conversationId });
    turn.pod({ pod: 'third' });
    turn.dead.add(lost?.owner ?? '');
    await waitUntil(async () => (await turn.delegated())[0]?.owner.startsWith('third/'), {
      what: 'the third pod',
    });
    await turn.answer(asked?.id, 'accept', 'L');
    expect((await turn.ended()).status).toBe('finished');
    expect(await turn.text()).toMatch(/^boss\(left\(.*"L".*\)\)$/);
    expect(await turn.open()).toEqual([]);
    expect(await turn.statuses()).toEqual(['finished']);
  });

  it('is executed by one pod, even when several receive it', async () => {
    const turn = await beginAt('on another pod', 'left');
    const [row] = await turn.asked(1);
    const [before] = await turn.delegated();
    if (before === undefined) throw new Error('The delegate has no owner.');
    // As a job is that its pod did not live to see through.
    for (const term of [1, before.term, 7]) await turn.backend.runQueue.offer(before, term);
    await turn.answer(row?.id, 'accept', 'L');
    expect((await turn.ended()).status).toBe('finished');
    const [after] = await turn.delegated();
    expect([after?.owner, after?.term, after?.steps.length]).toEqual([before.owner, before.term, 2]);
  });

  it('is begun all the same when the pod that claimed it could not keep it', async () => {
    const backend = createMemoryBackend(ROOMY);
    const { takeOver } = backend.runs;
    let refusals = 2;
    const runs: Runs = {
      ...backend.runs,
      async takeOver(...which) {
        if (refusals-- > 0) throw new Error('A fault on the way.');
        return takeOver(...which);
      },
    };
    const turn = await beginAt('on another pod', 'speechless', {}, { runs }, backend);
    expect((await turn.ended()).status).toBe('finished');
    expect(refusals).toBeLessThan(0);
  });
});

it('a delegate that another pod took over from a silent pod may return to that pod, and is counted once', async () => {
  const usages: unknown[] = [];
  for (const isTaken of [false, true]) {
    const turn = await beginAt('on the pod of the turn', 'left');
    const [asked] = await turn.asked(1);
    const [first] = await turn.delegated();
    if (first === undefined) throw new Error('The delegate has no owner.');
    await turn.other.turns.close();
    // As another pod does after a lapse, and then dies; the turn itself was not yet taken.
    if (isTaken) await turn.backend.runs.takeOver(first, first.term, 'died');
    // Only a write shows the first pod that it has lost the run.
    await turn.answer(asked?.id, 'accept', 'L');
    const isBack = async () => {
      await turn.backend.runQueue.offer(first, first.term + 1);
      return (await turn.delegated())[0]?.owner === first.owner;
    };
    await waitUntil(isBack, { what: 'the only pod that is left', everyMs: 100 });
    expect((await turn.ended()).status).toBe('finished');
    expect(await turn.text()).toMatch(/^boss\(left\(.*"L".*\)\)$/);
    usages.push(await turn.usage());
  }
  expect(usages[0]).toMatchObject({ inputTokens: expect.any(Number), outputTokens: expect.any(Number) });
  expect(usages[1]).toEqual(usages[0]);
});

it.each(PLACES)(
  'a delegate that should work %s, and was claimed before the reply to its begin, is followed',
  async (place) => {
    const backend = createMemoryBackend(ROOMY);
    let taken: Run | undefined;
    const runs: Runs = {
      ...backend.runs,
      async begin(run) {
        const begun = await backend.runs.begin(run);
        if (run.parent === undefined || taken !== undefined) return begun;
        await backend.runs.takeOver(run, 1, 'died');
        taken = (await backend.runs.read(run)).run;
        throw new ParleyError('unavailable', 'Away.', { retryAfterSeconds: 1 });
      },
    };
    const turn = await beginAt(place, 'left', {}, { runs }, backend);
    const isOffered = async () => {
      // As a worker does that finds the dead pod's.
      if (taken !== undefined) await backend.runQueue.offer(taken, 2);
      return (await turn.open()).length === 1;
    };
    await waitUntil(isOffered, { what: 'the question', everyMs: 100 });
    const [asked] = await turn.asked(1);
    await turn.answer(asked?.id, 'accept', 'L');
    expect((await turn.ended()).status).toBe('finished');
    expect(await turn.text()).toMatch(/^boss\(left\(.*"L".*\)\)$/);
    const [delegate] = await delegatedBy(backend, turn.run);
    expect(delegate).toMatchObject({ status: 'finished', term: 3 });
  },
);

it('a delegate whose begin got no reply before the turn was stopped does not stay running', async () => {
  const backend = createMemoryBackend(ROOMY);
  let begun: Run | undefined;
  const runs: Runs = {
    ...backend.runs,
    async begin(run) {
      const result = await backend.runs.begin(run);
      if (run.parent === undefined) return result;
      begun = (await backend.runs.read(run)).run;
      throw new ParleyError('unavailable', 'Away.', { retryAfterSeconds: 1 });
    },
  };
  const turn = await beginAt('on the pod of the turn', 'left', {}, { runs }, backend);
  await waitUntil(async () => begun !== undefined, { what: 'the begin of the delegate' });
  expect(await turn.own.turns.stop(turn.conversation)).toBe(true);
  expect((await turn.ended()).status).toBe('stopped');
  const hasEnded = async () =>
    (await delegatedBy(backend, turn.run)).every(({ status }) => status !== 'running');
  await waitUntil(hasEnded, { what: 'the end of the delegate' });
});

/** The runs that a run's calls were delegated to, and theirs, the nearest first. */
async function delegatedBy(backend: Backend, of: RunRef): Promise<Run[]> {
  const { run } = await backend.runs.read(of);
  const ids = (run?.calls ?? []).flatMap((call) => (call.run === undefined ? [] : [call.run]));
  const found: Run[] = [];
  for (const streamRequestId of ids) {
    const { run: one } = await backend.runs.read({ ...of, streamRequestId });
    if (one !== undefined) found.push(one, ...(await delegatedBy(backend, one)));
  }
  return found;
}

describe.each(PLACES)('an agent whose delegates work %s', (place) => {
  const begin = (text: string, agents?: TestPod['agents'], more?: TestPod) =>
    beginAt(place, text, agents, more);

  it('passes on the answer of an agent two levels down, whose question is on the turn’s own stream', async () => {
    const turn = await begin('researcher');
    const [row] = await turn.asked(1);
    const { streamRequestId, conversationId } = turn.run;
    expect(row?.definition).toMatchObject({
      streamRequestId,
      conversationId,
      context: { agent: 'The librarian' },
      message: 'What of librarian?',
      // The person is notified as the agent of their turn says.
      notify: NOTIFY,
    });
    await turn.answer(row?.id, 'accept', 'teal');
    const root = await turn.ended();
    expect(await turn.text()).toBe('boss(researcher(librarian({"status":"accepted","answer":"teal"})))');
    const runs = await turn.delegated();
    const pod = place === 'on another pod' ? 'other' : 'pod';
    expect(runs.map(({ owner }) => owner.split('/')[0])).toEqual([pod, pod]);
    expect(runs.map(({ agent, status }) => [agent, status])).toEqual([
      ['researcher', 'finished'],
      ['librarian', 'finished'],
    ]);
    expect(runs[0]?.parent).toEqual({ streamRequestId, toolCallId: root.calls[0]?.toolCallId });
    expect(runs[1]?.parent?.streamRequestId).toBe(runs[0]?.streamRequestId);
    for (const one of runs) expect(one.conversationId).toBe(one.streamRequestId);
    expect((await turn.backend.conversations.read(turn.run)).messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ]);
  });

  it('shows on its stream which agent calls what, under ids of their own, and what all of them used', async () => {
    const turn = await begin('researcher and left');
    for (const { id } of await turn.asked(2)) {
      await turn.answer(id, 'decline');
    }
    const root = await turn.ended();
    const events = await turn.events();
    const called = events.filter((event) => event.type === 'tool-called');
    expect(called.map(({ agent, toolName }) => [agent, toolName]).sort()).toEqual(
      [
        [undefined, 'delegate_to_researcher'],
        [undefined, 'delegate_to_left'],
        ['researcher', 'delegate_to_librarian'],
        ['left', 'elicit'],
        ['librarian', 'elicit'],
      ].sort(),
    );
    const ids = called.map(({ toolCallId }) => toolCallId);
    expect(new Set(ids).size).toBe(5);
    const over = events.filter(({ type }) => type === 'tool-returned' || type === 'tool-failed');
    expect(over.map((event) => ('toolCallId' in event ? event.toolCallId : '')).sort()).toEqual(ids.sort());
    const tree = [root, ...(await turn.delegated())];
    const tokens = tree.flatMap(({ steps }) => steps.map(({ inputTokens = 0 }) => inputTokens));
    expect(tokens).toHaveLength(8);
    expect(events.at(-1)).toMatchObject({
      usage: { inputTokens: tokens.reduce((sum, some) => sum + some, 0) },
    });
  });

  it('distinguishes calls to which models gave the same id', async () => {
    const turn = await begin('researcher', {}, { numbersCallsAnew: true });
    const [row] = await turn.asked(1);
    await turn.answer(row?.id, 'decline');
    expect((await turn.ended()).status).toBe('finished');
    const called = (await turn.events()).filter((event) => event.type === 'tool-called');
    expect(new Set(called.map(({ toolCallId }) => toolCallId)).size).toBe(3);
  });

  it.each(['shuts down', 'dies'])(
    'whose pod %s is resumed elsewhere, with all its delegates',
    async (how) => {
      const turn = await begin('researcher and left');
      const before = await turn.asked(2);
      await (how === 'dies' ? turn.dieWatched() : turn.own.turns.close());
      await turn.untilOwnedBy(turn.run, 'other');
      const after = await turn.asked(2);
      expect(after.map(({ id }) => id).sort()).toEqual(before.map(({ id }) => id).sort());
      for (const { id, definition } of after)
        await turn.answer(id, 'accept', definition.context.agent === 'The left' ? 'L' : 'R');
      expect((await turn.ended()).status).toBe('finished');
      expect(await turn.text()).toMatch(/^boss\(researcher\(librarian\(.*"R".*\)\) left\(.*"L".*\)\)$/);
      expect(await turn.asked(0)).toEqual([]);
      expect(await turn.statuses()).toEqual(['finished', 'finished', 'finished']);
    },
  );

  it.each([
    [
      'whose model is unavailable',
      'speechless',
      'speechless could not finish the task: its model could not answer',
      ['failed'],
    ],
    ['at the end of a long chain', 'chain-1', 'chain-6 was not asked: 5 agents already wait', undefined],
    ['that cannot be opened', 'broken', 'broken could not finish the task: something went wrong', ['failed']],
  ])(
    'gets the failure of a delegate %s as a message, and continues',
    async (_what, agent, sentence, statuses) => {
      const turn = await begin(agent);
      expect((await turn.ended()).status).toBe('finished');
      expect(await turn.text()).toContain(`The ${sentence}`);
      if (statuses !== undefined) expect(await turn.statuses()).toEqual(statuses);
    },
  );

  it('continues without a delegate that gave up, whose question is withdrawn at once', async () => {
    const breaking: Tool = {
      name: 'break',
      description: 'Fails once there are questions.',
      inputSchema: { type: 'object', properties: {} },
      async call() {
        await turn.asked(2);
        throw new Error('A fault of the tool.');
      },
    };
    const turn = await begin('clumsy and left', { clumsy: { tools: [elicit, breaking] } });
    await waitUntil(async () => (await turn.delegated()).some(({ status }) => status === 'failed'), {
      what: 'the end of the delegate',
    });
    const [left] = await turn.asked(1);
    expect(left?.definition.context.agent).toBe('The left');
    await turn.answer(left?.id, 'accept', 'L');
    expect((await turn.ended()).status).toBe('finished');
    expect(await turn.text()).toContain('The clumsy could not finish the task: something went wrong');
  });

  it('counts the usage of its delegates towards its own limit', async () => {
    const tokensOf = ({ steps: [first] }: Run) => (first?.inputTokens ?? 0) + (first?.outputTokens ?? 0);
    const free = await begin('speechless');
    const tokens = tokensOf(await free.ended()) + 1;
    for (const [agent, reason, count] of [
      ['speechless', 'stop', 2],
      ['brief', 'step-limit', 1],
    ] as const) {
      const turn = await begin(agent, { boss: { tools: delegates(agent), limits: { tokens, steps: 2 } } });
      const root = await turn.ended();
      expect([root.steps.length, (await turn.events()).at(-1)]).toMatchObject([count, { reason }]);
    }
  });

  it('splits the tokens that are left among delegates that work side by side', async () => {
    const tokens = 50_000;
    const turn = await begin('left and right and speechless', {
      boss: { ...AGENTS.boss, limits: { tokens } },
    });
    await turn.asked(2);
    const shares = (await turn.delegated()).map(({ delegateRequest }) => delegateRequest?.tokens ?? 0);
    expect(shares).toHaveLength(3);
    expect(Math.min(...shares)).toBeGreaterThan(tokens / 4);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(tokens);
  });

  it('counts the usage of a delegate that ended before the pod died', async () => {
    const usages: unknown[] = [];
    for (const dies of [false, true]) {
      const turn = await begin('left and right');
      const rows = await turn.asked(2);
      const answer = async (agent: string) => {
        const row = rows.find(({ definition }) => definition.context.agent === agent);
        await turn.answer(row?.id, 'accept', 'A');
      };
      await answer('The left');
      const isKept = async () => (await turn.record())?.calls.some(({ state }) => state === 'returned');
      await waitUntil(isKept, { what: 'the end of the first delegate' });
      if (dies) {
        await turn.dieWatched();
        await turn.untilOwnedBy(turn.run, 'other');
      }
      await answer('The right');
      expect((await turn.ended()).status).toBe('finished');
      usages.push(await turn.usage());
    }
    expect(usages[0]).toMatchObject({ inputTokens: expect.any(Number), outputTokens: expect.any(Number) });
    expect(usages[1]).toEqual(usages[0]);
  });

  it('is refused an empty task', async () => {
    const [tool] = delegates('left');
    const call = { input: { task: ' ' } } as unknown as Parameters<Tool['call']>[0];
    expect(await tool?.call(call)).toMatchObject({
      type: 'failed',
      message: expect.stringContaining('task'),
    });
  });
});
