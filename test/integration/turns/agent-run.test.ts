import { inspect } from 'node:util';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { mintStreamRequestId, type Owner } from '@parley/shared/domain/ids';
import type { RunRef } from '@parley/shared/domain/runs/run';
import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import { turnEventOf } from '@parley/shared/domain/runs/turn-events';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import type { Backend } from '@parley/shared/ports/backend';
import { withdrawOfTurn } from '@parley/shared/runs/open-questions';
import { afterEach, describe, expect, it } from 'vitest';
import type { ModelFault } from '../../../infra/demo/stand-ins/scripted-model/faults.ts';
import type { Script } from '../../../infra/demo/stand-ins/scripted-model/script.ts';
import {
  type ScriptedModel,
  startScriptedModel,
} from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';
import { createIdleDetection } from '../../../services/api/src/agents/loop/idle.ts';
import { repliesOf } from '../../../services/api/src/agents/loop/model-step.ts';
import { silentTurnObserver } from '../../../services/api/src/agents/loop/observer.ts';
import { type RunOptions, runTurn } from '../../../services/api/src/agents/loop/run.ts';
import type { Tool, ToolCall } from '../../../services/api/src/agents/tools/tool.ts';
import { createRunWriter } from '../../../shared/src/runs/write.ts';
import { engineOn } from '../../harness/engines/engines.ts';
import { readEntries } from '../../harness/engines/observe.ts';
import { newOwner } from '../../harness/engines/questions.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { waitUntil } from '../../harness/wait-until.ts';

let model: ScriptedModel | undefined;
afterEach(async () => {
  await model?.stop();
  model = undefined;
});

interface World {
  readonly script: Script;
  readonly tools?: readonly Tool[];
  readonly owner?: Owner;
  readonly turnBytesMax?: number;
  readonly steps?: number;
  readonly fault?: () => ModelFault | undefined;
  readonly backend?: Backend;
}

/** Begins a turn on a new pod, with a model that follows the script. */
async function begin({ script, tools = [], fault, ...world }: World) {
  model = await startScriptedModel({ script, ...(fault !== undefined && { fault }) });
  const backend =
    world.backend ??
    createMemoryBackend({ ...ROOMY, turnBytesMax: world.turnBytesMax ?? ROOMY.turnBytesMax });
  const engine = engineOn(backend);
  const owner = world.owner ?? newOwner();
  const run: RunRef = { ...owner, streamRequestId: mintStreamRequestId(), conversationId: 'talk' };
  const input = [{ role: 'user', content: 'Go' } as const];
  const { messages: history } = await backend.conversations.read(run);
  const begun = await backend.runs.begin({
    ...run,
    agent: 'helper',
    owner: 'pod-a',
    support: { form: true, url: true },
    input,
    event: { type: 'turn-started', conversationId: 'talk', messageId: 'msg_1', agent: 'helper' },
  });
  if (begun.type !== 'begun') throw new Error('Another turn runs.');
  const stopping = new AbortController();
  const faults: unknown[] = [];
  const options: RunOptions = {
    id: 'helper',
    observer: silentTurnObserver,
    engine,
    writer: createRunWriter({ runs: backend.runs, run, ...begun }),
    run,
    reply: repliesOf({
      model: createOpenAICompatible({ name: 'scripted', baseURL: model.url, includeUsage: true })('scripted'),
      instructions: 'Be brief.',
      settings: {},
    }),
    tools: async () => tools,
    limits: { steps: world.steps ?? 5, tokens: 1_000_000, workMs: 60_000 },
    support: { form: true, url: true },
    reach: () => 'client',
    notify: undefined,
    history,
    input,
    stopped: stopping.signal,
    released: new AbortController().signal,
    title: 'Helper',
    delivery: 'hold',
    idle: createIdleDetection(300_000, () => undefined),
    release: async () => undefined,
    delegateTo: async () => ({ type: 'failed', message: 'There is nobody to delegate to.' }),
    withdrawQuestions: () => withdrawOfTurn(engine, run),
    onFault: (error) => faults.push(error),
  };
  const events = async (): Promise<TurnEvent[]> => {
    const entries = await readEntries(backend.feed, run);
    return entries.map(({ event }) => turnEventOf(event)).filter((event) => event !== undefined);
  };
  return {
    backend,
    engine,
    owner,
    run,
    faults,
    requests: model.requests,
    stop: () => stopping.abort(),
    done: runTurn(options),
    events,
    text: async () => (await events()).map((event) => ('text' in event ? event.text : '')).join(''),
    last: async () => (await events()).at(-1),
    record: async () => (await backend.runs.read(run)).run,
    said: async () => (await backend.conversations.read(run)).messages,
  };
}

function toolOf(name: string, call: Tool['call']): Tool {
  return { name, description: name, inputSchema: { type: 'object', properties: {} }, call };
}

const returning =
  (output: unknown): Tool['call'] =>
  async () => ({ type: 'returned', output });

/** Calls the named tools, then reports their results. */
const callAll =
  (...names: string[]): Script[number] =>
  ({ results }) =>
    results.length === 0
      ? { text: 'Looking. ', calls: names.map((name) => ({ name, arguments: { n: 1 } })) }
      : { text: results.map(({ text }) => text).join(' and ') };

describe('a turn', () => {
  it('of text only is streamed and stored in the history', async () => {
    const turn = await begin({ script: [() => ({ text: 'Hello there, friend.' })] });
    await turn.done;
    const events = await turn.events();
    expect(events.map(({ type }) => type).filter((type) => type !== 'text-delta')).toEqual([
      'turn-started',
      'step-started',
      'text-finished',
      'step-finished',
      'turn-finished',
    ]);
    expect(await turn.text()).toBe('Hello there, friend.');
    expect(await turn.last()).toMatchObject({ reason: 'stop' });
    expect(await turn.record()).toMatchObject({ status: 'finished', steps: [{ finishReason: 'stop' }] });
    expect((await turn.said()).map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(turn.faults).toEqual([]);
  });

  it('continues from the history', async () => {
    const first = await begin({ script: [() => ({ text: 'One.' })] });
    await first.done;
    await model?.stop();
    const { backend, owner } = first;
    const second = await begin({ script: [() => ({ text: 'Two.' })], backend, owner });
    await second.done;
    const shown = second.requests[0]?.body.messages.map(({ role }) => role);
    expect(shown).toEqual(['system', 'user', 'assistant', 'user']);
    expect(await second.said()).toHaveLength(4);
  });

  it('calls its tools side by side, and answers every call in order', async () => {
    let under = 0;
    let most = 0;
    const slow =
      (output: string): Tool['call'] =>
      async () => {
        under += 1;
        most = Math.max(most, under);
        await waitUntil(() => most === 2, { what: 'the other call', everyMs: 5 });
        under -= 1;
        return { type: 'returned', output };
      };
    const turn = await begin({
      script: [callAll('left', 'right')],
      tools: [toolOf('left', slow('L')), toolOf('right', slow('R'))],
    });
    await turn.done;
    expect(await turn.text()).toBe('Looking. L and R');
    expect((await turn.record())?.calls.map(({ toolName, state }) => [toolName, state])).toEqual([
      ['left', 'returned'],
      ['right', 'returned'],
    ]);
    expect((await turn.said()).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });

  it('reports the usage of all its steps', async () => {
    const turn = await begin({ script: [callAll('left')], tools: [toolOf('left', returning('L'))] });
    await turn.done;
    const { steps = [] } = (await turn.record()) ?? {};
    expect(steps).toHaveLength(2);
    const sum = (key: 'inputTokens' | 'outputTokens') =>
      steps.reduce((total, step) => total + (step[key] ?? Number.NaN), 0);
    const usage = { inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') };
    expect(usage.inputTokens).toBeGreaterThan(0);
    expect(await turn.last()).toMatchObject({ type: 'turn-finished', usage });
  });

  it('records a call as dispatched before it is sent', async () => {
    const states: unknown[] = [];
    const world: { record?: () => Promise<unknown> } = {};
    const tool = toolOf('send', async (call) => {
      states.push(await world.record?.());
      await call.beforeDispatch();
      states.push(await world.record?.());
      return { type: 'returned', output: 'sent' };
    });
    const turn = await begin({ script: [callAll('send')], tools: [tool] });
    world.record = async () => (await turn.record())?.calls.map(({ state }) => state);
    await turn.done;
    expect(states).toEqual([['intended'], ['dispatched']]);
  });

  it('reports to the model a tool that fails, that does not exist, and that was called wrongly', async () => {
    const turn = await begin({
      script: [
        ({ results }) =>
          results.length === 0
            ? {
                calls: [
                  { name: 'broken', arguments: {} },
                  { name: 'absent', arguments: {} },
                  { name: 'broken', arguments: '{"half":' },
                ],
              }
            : { text: results.map(({ text }) => text).join(' | ') },
      ],
      tools: [toolOf('broken', async () => ({ type: 'failed', message: 'The disk is full.' }))],
    });
    await turn.done;
    expect(await turn.text()).toMatch(/^The disk is full\. \| .*absent.* \| .*broken/);
    const failed = (await turn.events()).filter(({ type }) => type === 'tool-failed');
    expect(failed).toHaveLength(3);
    expect(await turn.record()).toMatchObject({ status: 'finished' });
  });

  it('asks the user, waits, and continues with the answer; the record shows the pause', async () => {
    const ask = async (call: ToolCall) => {
      const outcome = await call.ask(0, {
        mode: 'form',
        message: 'Which colour?',
        requestedSchema: { type: 'object', properties: { colour: { type: 'string' } } },
        timeoutSeconds: 600,
      });
      return { type: 'returned', output: { status: outcome.status, ...outcome.content } } as const;
    };
    const turn = await begin({ script: [callAll('ask')], tools: [toolOf('ask', ask)] });
    const { owner, engine } = turn;
    const open = async () => (await engine.list({ owner, statuses: ['pending'], limit: 5 })).rows;
    await waitUntil(async () => (await open()).length === 1, { what: 'the question' });
    const [row] = await open();
    expect(row?.definition).toMatchObject({
      streamRequestId: turn.run.streamRequestId,
      conversationId: 'talk',
    });
    await engine.answer({
      caller: { kind: 'user', ...owner },
      id: row?.id ?? '',
      response: { action: 'accept', content: { colour: 'green' } },
      surface: 'chat',
    });
    await turn.done;
    expect(await turn.text()).toContain('green');
    const [pause] = (await turn.record())?.pauses ?? [];
    expect(pause).toMatchObject({ elicitationId: row?.id, outcome: 'accepted', trigger: 'agent' });
    expect(pause?.resumedAt).toBeGreaterThanOrEqual(pause?.pausedAt ?? Number.NaN);
  });

  it('that is stopped while it waits ends as stopped, on whichever pod the stop was requested', async () => {
    for (const how of ['here', 'elsewhere'] as const) {
      const wait = async (call: ToolCall) => {
        await call.ask(0, { mode: 'url', message: '?', url: 'https://a.example', timeoutSeconds: 600 });
        return { type: 'returned', output: 'never' } as const;
      };
      const turn = await begin({ script: [callAll('wait')], tools: [toolOf('wait', wait)] });
      const { owner, engine, backend } = turn;
      const open = async () => (await engine.list({ owner, statuses: ['pending'], limit: 5 })).rows;
      await waitUntil(async () => (await open()).length === 1, { what: 'the question' });
      if (how === 'here') turn.stop();
      else await backend.runs.stop(turn.run);
      const [row] = await open();
      const caller = { kind: 'service', tenant: owner.tenant } as const;
      await engine.withdraw({ caller, id: row?.id ?? '', reason: 'run_stopped' });
      await turn.done;
      expect(await turn.last()).toMatchObject({ type: 'turn-finished', reason: 'stopped' });
      expect((await turn.record())?.status).toBe('stopped');
      expect(turn.faults).toEqual([]);
      await model?.stop();
    }
  });

  it('that writes nothing notices a stop all the same', async () => {
    const hang = ({ signal }: ToolCall) =>
      new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    const turn = await begin({ script: [callAll('hang')], tools: [toolOf('hang', hang)] });
    const called = async () => (await turn.events()).some(({ type }) => type === 'tool-called');
    await waitUntil(called, { what: 'the call' });
    await turn.backend.runs.stop(turn.run);
    await turn.done;
    expect(await turn.last()).toMatchObject({ type: 'turn-finished', reason: 'stopped' });
  });

  it('whose model is unavailable or breaks off ends with a message for the user, and its cause in the log', async () => {
    for (const fault of [
      { kind: 'refuse', status: 500 },
      { kind: 'cut', afterChunks: 2 },
    ] as const) {
      const turn = await begin({
        script: [() => ({ text: 'A long sentence that comes in many pieces.' })],
        fault: () => fault,
      });
      await turn.done;
      expect(await turn.last()).toMatchObject({ type: 'turn-failed', code: 'model_unavailable' });
      expect((await turn.record())?.status).toBe('failed');
      expect(turn.faults.map(String)).toEqual([
        expect.stringMatching(/^ModelError: The model could not answer: \S/),
      ]);
      expect(inspect(turn.faults, { depth: 20 })).not.toContain('Be brief.');
      expect((await turn.said()).map(({ role }) => role)).toEqual(['user']);
      await model?.stop();
    }
  });

  it('ends at its limit of steps', async () => {
    const turn = await begin({
      script: [() => ({ calls: [{ name: 'again', arguments: {} }] })],
      tools: [toolOf('again', returning('more'))],
      steps: 3,
    });
    await turn.done;
    expect(await turn.last()).toMatchObject({ type: 'turn-finished', reason: 'step-limit' });
    const { steps = [], calls = [] } = (await turn.record()) ?? {};
    expect([steps.length, new Set(calls.map(({ toolCallId }) => toolCallId)).size]).toEqual([3, 3]);
  });

  it('that exceeds its size limit ends with an error, and frees its conversation', async () => {
    const turn = await begin({ script: [() => ({ text: 'word '.repeat(5_000) })], turnBytesMax: 5_000 });
    await turn.done;
    expect(await turn.last()).toMatchObject({ type: 'turn-failed', code: 'too_large' });
    expect((await turn.backend.conversations.read(turn.run)).running).toBeUndefined();
  });

  it('that another pod took over makes no more writes', async () => {
    const world: { takeOver?: () => Promise<unknown> } = {};
    const tool = toolOf('slow', async () => {
      await world.takeOver?.();
      return { type: 'returned', output: 'late' };
    });
    const turn = await begin({ script: [callAll('slow')], tools: [tool] });
    world.takeOver = () => turn.backend.runs.takeOver(turn.run, 1, 'pod-b');
    await turn.done;
    expect((await turn.events()).map(({ type }) => type)).not.toContain('tool-returned');
    expect(await turn.record()).toMatchObject({ status: 'running', owner: 'pod-b', term: 2 });
  });
});
