import { type CallRecord, type Run, type StepRecord, UNOWNED } from '@parley/shared/domain/runs/run';
import type { RunNote } from '@parley/shared/ports/runs/runs';
import { describe, expect, it } from 'vitest';
import type { Tool } from '../../../services/api/src/agents/run/tool.ts';
import { askQuestion, serviceOf } from '../../harness/engines/questions.ts';
import { elicit, lostRun } from '../../harness/turns/setup.ts';
import { modelOf, worldOn } from '../../harness/turns/site.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { DEATHS, type Death } from './dying-backend.ts';
import { startDyingPod } from './dying-pod.ts';

const ASK = { name: 'elicit', arguments: { kind: 'text', message: 'Which seat?' } };
const BOOK = { name: 'book', arguments: { flight: 'PA 4' } };

const model = modelOf(({ results }) => {
  if (results.length === 0) return { text: 'Let me see. ', calls: [ASK, BOOK] };
  if (results.length === 2) return { text: 'Looking. ', calls: [{ name: 'look', arguments: {} }] };
  return { text: `Done: ${results.map(({ text }) => text).join(' ')}` };
});

/** A turn with two rounds of calls, one of which asks and one of which has an effect, on a pod that dies at a write. */
async function turnThatLoses(when: Death['when'], at: number) {
  const world = worldOn(model);
  const booked: string[] = [];
  const agents = (pod: string) => {
    const book = tool('book', async () => {
      booked.push(pod);
      return 'booked';
    });
    return { helper: { tools: [elicit, book, { ...tool('look', async () => 'seen'), isRepeatable: true }] } };
  };
  const isLast = (_write: unknown, count: number) => count === at;
  const { turns, state } = startDyingPod(world, model.current, agents('first'), when, isLast);
  const second = world.pod({ agents: agents('second'), pod: 'second' });
  const run = await turns.begin(world.saying('Book me a flight'));
  const leave = second.turns.attend(run);
  let answered = 0;
  await waitUntil(
    async () => {
      const [open] = await world.open();
      if (open !== undefined) {
        answered += 1;
        await world.answer(open.id, 'accept', '12A');
      }
      return (await world.standing(run))?.status !== 'running';
    },
    { what: `the end of a turn whose pod died at write ${at}` },
  );
  leave();
  const record = await world.record(run);
  return { world, run, record, booked, answered, writes: state.writes, died: state.dead };
}

function tool(name: string, effect: () => Promise<string>): Tool {
  return {
    name,
    description: name,
    inputSchema: { type: 'object', properties: {} },
    async call({ beforeDispatch }) {
      await beforeDispatch();
      return { type: 'returned', output: await effect() };
    },
  };
}

/** What readers see in the end: the text that no restart made void. */
function shownText(events: Awaited<ReturnType<ReturnType<typeof worldOn>['events']>>): string {
  const texts: { step: number; text: string }[] = [];
  let step = 0;
  for (const event of events) {
    if (event.type === 'step-started') step = event.step;
    else if (event.type === 'step-restarted') {
      const { step: from } = event;
      texts.splice(0, texts.length, ...texts.filter((one) => one.step < from));
    } else if (event.type === 'text-delta') texts.push({ step, text: event.text });
  }
  return texts.map(({ text }) => text).join('');
}

describe('a turn whose pod dies at a write', () => {
  it.each(DEATHS)(
    '%s is resumed elsewhere: asked once, executed at most once, and streamed completely',
    async (when) => {
      const { writes, booked } = await turnThatLoses(when, Number.POSITIVE_INFINITY);
      expect(booked).toEqual(['first']);
      expect(writes).toBeGreaterThan(8);
      const doneAt: string[] = [];
      for (let at = 1; at <= writes; at += 1) {
        const turn = await turnThatLoses(when, at);
        // How much goes into one write is a matter of moments: the last one may not come.
        if (!turn.died) continue;
        const isOver = turn.record?.term === 1;
        expect(isOver, `write ${at}`).toBe(when === 'before its reply' && at === turn.writes && isOver);
        await expectWhole(turn, `write ${at}`);
        doneAt.push(...turn.booked);
      }
      expect(new Set(doneAt)).toEqual(new Set(['first', 'second']));
    },
  );
});

describe('a turn that is taken over', () => {
  const asking = modelOf(({ results }) => (results.length === 1 ? { calls: [ASK] } : { text: 'Done.' }));

  /** A turn of a dead pod with these notes, and a function that lets another pod take it. */
  async function lostWith(of: typeof model, notes: readonly RunNote[]) {
    const world = worldOn(of);
    const left = lostRun(world.conversation, 'Book me a flight');
    await world.backend.runs.begin(left);
    await world.backend.runs.write(left, { term: 1, firstSeq: 2, events: [], notes });
    const take = () => world.pod().turns.resumable(world.conversation, undefined);
    return { world, left, take };
  }

  /** The record of such a turn once it has ended. */
  async function taken(notes: readonly RunNote[]): Promise<Run> {
    const { world, left, take } = await lostWith(model, notes);
    await take();
    await world.ended(left);
    const record = await world.record(left);
    if (record === undefined) throw new Error('The run is gone.');
    return record;
  }

  const calling = (names: readonly string[]): StepRecord => ({
    messages: [
      {
        role: 'assistant',
        content: names.map((toolName, at) => ({
          type: 'tool-call',
          toolCallId: `c${at}`,
          toolName,
          input: {},
        })),
      },
    ],
    finishReason: 'tool-calls',
    workedMs: 50_000,
  });
  const called = (toolName: string, at: number, state: CallRecord['state']): RunNote => ({
    type: 'call',
    call: { toolCallId: `c${at}`, modelCallId: `c${at}`, toolName, step: 0, at, state },
  });

  it('reports a dispatched call as uncertain when its server is unavailable', async () => {
    const record = await taken([
      { type: 'step', index: 0, step: calling(['book', 'look', 'gone']) },
      called('book', 0, 'dispatched'),
      called('look', 1, 'dispatched'),
      called('gone', 2, 'intended'),
    ]);
    expect(record.calls.map(({ output }) => String(output))).toEqual([
      expect.stringContaining('may or may not have had its effect'),
      expect.stringContaining('may or may not have had its effect'),
      expect.stringContaining('There is no such tool'),
    ]);
  });

  it('withdraws what its previous pod asked and did not live to record, once the calls of that step have ended', async () => {
    const { world, left, take } = await lostWith(asking, [
      { type: 'step', index: 0, step: calling(['book']) },
      called('book', 0, 'dispatched'),
    ]);
    const stray = await askQuestion(world.engine, left, { conversationId: left.conversationId });
    await take();
    const asked = async () => (await world.open()).map(({ definition }) => definition.message);
    await waitUntil(async () => (await asked()).join() === ASK.arguments.message, {
      what: 'the question of the next step alone',
    });
    const { row } = await world.engine.read(serviceOf(left), stray.row.id);
    expect(row).toMatchObject({ status: 'withdrawn', settlement: { reason: 'withdrawn_by_asker' } });
    const [next] = await world.open();
    await world.answer(next?.id, 'accept', '12A');
    expect(await world.ended(left)).toBe('finished');
  });

  it('keeps its used working time', async () => {
    const record = await taken([
      { type: 'step', index: 0, step: calling(['gone']) },
      called('gone', 0, 'intended'),
    ]);
    expect(record.steps.length).toBeGreaterThan(1);
    for (const { workedMs } of record.steps) expect(workedMs).toBeGreaterThanOrEqual(50_000);
  });

  it('is found again when the pod that claimed it could not read it', async () => {
    const world = worldOn(model);
    const left = lostRun(world.conversation, 'Book me a flight');
    await world.backend.runs.begin(left);
    const read = () => Promise.reject(new Error('A fault on the way.'));
    world.pod({ pod: 'clumsy', runs: { ...world.backend.runs, read } });
    world.pod({ pod: 'able' });
    await world.backend.runQueue.offer(left, 1);
    await world.untilOwnedBy(left, 'able');
  });
});

async function expectWhole(turn: Awaited<ReturnType<typeof turnThatLoses>>, label: string): Promise<void> {
  expect(turn.record?.status, label).toBe('finished');
  expect(turn.answered, label).toBe(1);
  expect(turn.booked.length, label).toBeLessThanOrEqual(1);
  const events = await turn.world.events(turn.run);
  expect(events.filter(({ type }) => type === 'turn-finished').length, label).toBe(1);
  // Whether it was done is unknown where the call had left, also where it had not come to that.
  const book = turn.record?.calls.find(({ toolName }) => toolName === 'book');
  expect(shownText(events), label).toBe(`Let me see. Looking. Done: ${heardOf(turn.record)}`);
  expect([turn.booked.length === 1, /outcome was lost/.test(String(book?.output))], label).toContain(true);
  const { messages } = await turn.world.backend.conversations.read(turn.world.conversation);
  expect(messages.map(({ role }) => role).join(' '), label).toBe(
    'user assistant tool assistant tool assistant',
  );
}

/** The outcomes of a run's calls as its model reads them. */
function heardOf(record: Run | undefined): string {
  const calls = [...(record?.calls ?? [])].sort((a, b) => a.step - b.step || (a.at ?? 0) - (b.at ?? 0));
  return calls.map(({ output }) => (typeof output === 'string' ? output : JSON.stringify(output))).join(' ');
}

describe('a turn whose agent this pod does not know, as in a rollout of a configuration', () => {
  async function orphanOf(deferralMs: number) {
    const world = worldOn(model, { deferralMs });
    const left = lostRun(world.conversation, 'Book me a flight');
    await world.backend.runs.begin(left);
    const older = world.pod({ agents: { another: { tools: [] } } });
    await older.turns.resumable(world.conversation, undefined);
    return { ...world, left };
  }

  it('is left to a pod that knows it', async () => {
    const { pod, standing, ended, left } = await orphanOf(600_000);
    const isReleased = async () => {
      const { owner, term = 1 } = (await standing(left)) ?? {};
      return owner === UNOWNED && term > 2;
    };
    await waitUntil(isReleased, { what: 'the pod to leave the run to others' });
    pod({ agents: { helper: { tools: [] } } });
    expect(await ended(left)).toBe('finished');
  });

  it('fails after a while where no pod knows it', async () => {
    const { ended, left } = await orphanOf(100);
    expect(await ended(left)).toBe('failed');
  });
});
