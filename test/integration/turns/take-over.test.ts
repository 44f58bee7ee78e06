import { type CallRecord, type Run, type StepRecord, UNOWNED } from '@parley/shared/domain/runs/run';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import type { RunNote } from '@parley/shared/ports/runs/runs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type ScriptedModel,
  startScriptedModel,
} from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';
import type { Tool } from '../../../services/api/src/agents/tools/tool.ts';
import { answerQuestion } from '../../harness/engines/questions.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import {
  elicit,
  listOpen,
  lostRun,
  podOn,
  readEvents,
  saying,
  type TestPod,
  talk,
} from '../../harness/turns/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { createDyingBackend, DEATHS, type Death } from './dying-backend.ts';

const ASK = { name: 'elicit', arguments: { kind: 'text', message: 'Which seat?' } };
const BOOK = { name: 'book', arguments: { flight: 'PA 4' } };

let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel({
    script: [
      ({ results }) => {
        const words = results.map(({ text }) => text).join(' ');
        if (results.length === 0) return { text: 'Let me see. ', calls: [ASK, BOOK] };
        if (results.length === 2) return { text: 'Looking. ', calls: [{ name: 'look', arguments: {} }] };
        return { text: `Done: ${words}` };
      },
    ],
  });
});
afterAll(() => model.stop());

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** A turn with two rounds of calls, one of which asks and one of which has an effect, on a pod that dies at a write. */
async function turnThatLoses(death: Death) {
  const backend = createMemoryBackend(ROOMY);
  const { state, ...dying } = createDyingBackend(backend, death.when, (_write, count) => count === death.at);
  const booked: string[] = [];
  const tools = (pod: string): Tool[] => [
    elicit,
    tool('book', async () => {
      booked.push(pod);
      return 'booked';
    }),
    { ...tool('look', async () => 'seen'), isRepeatable: true },
  ];
  // Without a planned death, a slow moment must not look like one.
  const leaseTiming = { renewMs: 20, leaseMs: Number.isFinite(death.at) ? 200 : 20_000 };
  const agents = (pod: string) => ({ helper: { tools: tools(pod) } });
  const first = podOn(backend, model, { ...dying, leaseTiming, agents: agents('first'), pod: 'first' });
  const second = podOn(backend, model, { leaseTiming, agents: agents('second'), pod: 'second' });
  closing.push(() => second.turns.close());
  const conversation = talk();
  const run = await first.turns.begin(saying(conversation, 'Book me a flight'));
  const leave = second.turns.attend(run);
  let answered = 0;
  await waitUntil(
    async () => {
      const [open] = await listOpen(second.engine, conversation);
      if (open !== undefined) {
        answered += 1;
        await answerQuestion(second.engine, conversation, open.id, 'accept', { answer: '12A' });
      }
      return (await backend.runs.standing(run))?.status !== 'running';
    },
    { what: `the end of a turn whose pod died at write ${death.at}`, everyMs: 10 },
  );
  leave();
  const { run: record } = await backend.runs.read(run);
  return { backend, conversation, run, record, booked, answered, writes: state.writes, died: state.dead };
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
function shownText(events: Awaited<ReturnType<typeof readEvents>>): string {
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
      const { writes, booked } = await turnThatLoses({ at: Number.POSITIVE_INFINITY, when });
      expect(booked).toEqual(['first']);
      expect(writes).toBeGreaterThan(8);
      const doneAt: string[] = [];
      for (let at = 1; at <= writes; at += 1) {
        const turn = await turnThatLoses({ at, when });
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
  /** A turn of a dead pod as its record has it, and a pod that takes it. */
  async function taken(notes: readonly RunNote[], options: TestPod = {}) {
    const backend = createMemoryBackend(ROOMY);
    const conversation = talk();
    const left = lostRun(conversation, 'Book me a flight');
    await backend.runs.begin(left);
    await backend.runs.write(left, { term: 1, firstSeq: 2, events: [], notes });
    const pod = podOn(backend, model, { leaseTiming: { renewMs: 20, leaseMs: 200 }, ...options });
    closing.push(() => pod.turns.close());
    await pod.turns.resumable(conversation, undefined);
    const record = await waitUntil(
      async () => {
        const { run } = await backend.runs.read(left);
        return run?.status === 'running' ? undefined : run;
      },
      { what: 'the end' },
    );
    return { backend, record, left };
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
    const { record } = await taken([
      { type: 'step', index: 0, step: calling(['book', 'look', 'gone']) },
      called('book', 0, 'dispatched'),
      called('look', 1, 'dispatched'),
      called('gone', 2, 'intended'),
    ]);
    expect(record.calls.map(({ output }) => String(output))).toEqual([
      expect.stringContaining('may or may not have had its effect'),
      expect.stringContaining('may or may not have had its effect'),
      'There is no tool named gone.',
    ]);
  });

  it('keeps its used working time', async () => {
    const { record } = await taken([
      { type: 'step', index: 0, step: calling(['gone']) },
      called('gone', 0, 'intended'),
    ]);
    expect(record.steps.length).toBeGreaterThan(1);
    for (const { workedMs } of record.steps) expect(workedMs).toBeGreaterThanOrEqual(50_000);
  });

  it('is found again when the pod that claimed it could not read it', async () => {
    const backend = createMemoryBackend(ROOMY);
    const conversation = talk();
    const left = lostRun(conversation, 'Book me a flight');
    await backend.runs.begin(left);
    const clumsy = podOn(backend, model, {
      pod: 'clumsy',
      runs: { ...backend.runs, read: () => Promise.reject(new Error('A fault on the way.')) },
    });
    const able = podOn(backend, model, { pod: 'able' });
    closing.push(
      () => clumsy.turns.close(),
      () => able.turns.close(),
    );
    await backend.runQueue.offer(left, 1);
    await waitUntil(async () => (await backend.runs.standing(left))?.owner.startsWith('able/'), {
      what: 'the able pod',
    });
  });
});

async function expectWhole(turn: Awaited<ReturnType<typeof turnThatLoses>>, label: string): Promise<void> {
  expect(turn.record?.status, label).toBe('finished');
  expect(turn.answered, label).toBe(1);
  expect(turn.booked.length, label).toBeLessThanOrEqual(1);
  const events = await readEvents(turn.backend, turn.run);
  expect(events.filter(({ type }) => type === 'turn-finished').length, label).toBe(1);
  // Whether it was done is unknown where the call had left, also where it had not come to that.
  const book = turn.record?.calls.find(({ toolName }) => toolName === 'book');
  expect(shownText(events), label).toBe(`Let me see. Looking. Done: ${heardOf(turn.record)}`);
  expect([turn.booked.length === 1, /outcome was lost/.test(String(book?.output))], label).toContain(true);
  const { messages } = await turn.backend.conversations.read(turn.conversation);
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
  const leaseTiming = { renewMs: 20, leaseMs: 200 };
  const OTHERS: TestPod = { agents: { another: { tools: [] } }, leaseTiming };

  async function orphanOf(deferralMs: number) {
    const backend = createMemoryBackend(ROOMY);
    const conversation = talk();
    const left = lostRun(conversation, 'Book me a flight');
    await backend.runs.begin(left);
    const open = (options: TestPod) => {
      const pod = podOn(backend, model, { deferralMs, ...options });
      closing.push(() => pod.turns.close());
      return pod;
    };
    const older = open(OTHERS);
    await older.turns.resumable(conversation, undefined);
    const standing = () => backend.runs.standing(left);
    return { open, standing };
  }

  it('is left to a pod that knows it', async () => {
    const { open, standing } = await orphanOf(60_000);
    const isReleased = async () => {
      const { owner, term = 1 } = (await standing()) ?? {};
      return owner === UNOWNED && term > 2;
    };
    await waitUntil(isReleased, { what: 'the pod to leave the run to others' });
    open({ agents: { helper: { tools: [] } }, leaseTiming });
    await waitUntil(async () => (await standing())?.status === 'finished', { what: 'the end' });
  });

  it('fails after a while where no pod knows it', async () => {
    const { standing } = await orphanOf(100);
    await waitUntil(async () => (await standing())?.status === 'failed', { what: 'the end' });
  });
});
