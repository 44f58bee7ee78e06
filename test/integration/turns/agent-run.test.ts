import { inspect } from 'node:util';
import { LEVELS_MAX } from '@parley/shared/domain/json/depth';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import { describe, expect, it } from 'vitest';
import type { RunLimits } from '../../../services/api/src/agents/loop/run-steps.ts';
import type { Tool, ToolCall } from '../../../services/api/src/agents/run/tool.ts';
import type { ModelFault } from '../../../stand-ins/scripted-model/faults.ts';
import type { Script } from '../../../stand-ins/scripted-model/script.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { modelOf, worldOn } from '../../harness/turns/site.ts';
import { waitUntil } from '../../harness/wait-until.ts';

/** What the model of the current test says. */
let script: Script[number] = () => ({ text: '' });
let fault: ModelFault | undefined;
const model = modelOf((turn) => script(turn), { fault: () => fault });

interface Given {
  readonly tools?: readonly Tool[];
  readonly limits?: Partial<RunLimits>;
  readonly turnBytesMax?: number;
  readonly fault?: ModelFault;
}

/** Begins a turn on a new pod, with a model that follows the script. */
async function begin(says: Script[number], { tools = [], limits = {}, ...given }: Given = {}) {
  script = says;
  fault = given.fault;
  const backend = createMemoryBackend({ ...ROOMY, turnBytesMax: given.turnBytesMax ?? ROOMY.turnBytesMax });
  const world = worldOn(model, { agents: { 'A discreet helper': { tools, limits } } }, backend);
  const { turns, faults } = world.pod();
  const run = await turns.begin(world.saying('Go'));
  return {
    ...world,
    run,
    turns,
    faults,
    done: () => world.ended(run),
    events: () => world.events(run),
    text: () => world.text(run),
    last: async () => (await world.events(run)).at(-1),
    record: () => world.record(run),
    said: async () => (await backend.conversations.read(run)).messages.map(({ role }) => role),
  };
}

function toolOf(name: string, call: Tool['call']): Tool {
  return { name, description: name, inputSchema: { type: 'object', properties: {} }, call };
}

/** A call that ends with its turn. */
const hang = ({ signal }: ToolCall) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

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

const FORM = {
  mode: 'form',
  message: 'Which colour?',
  requestedSchema: { type: 'object', properties: { answer: { type: 'string' } } },
  timeoutSeconds: 600,
} as const;

describe('a turn', () => {
  it('of text only is streamed and stored in the history, from which the next one continues', async () => {
    const turn = await begin(() => ({ text: 'Hello there, friend.' }));
    await turn.done();
    const kinds = (await turn.events()).map(({ type }) => type);
    expect(kinds.filter((type) => type !== 'text-delta')).toEqual([
      'turn-started',
      'step-started',
      'text-finished',
      'step-finished',
      'turn-finished',
    ]);
    expect(await turn.text()).toBe('Hello there, friend.');
    expect(await turn.last()).toMatchObject({ reason: 'stop' });
    expect(await turn.record()).toMatchObject({ status: 'finished', steps: [{ finishReason: 'stop' }] });
    expect(await turn.said()).toEqual(['user', 'assistant']);
    await turn.ended(await turn.turns.begin(turn.saying('On')));
    const shown = model.current.requests.at(-1)?.body.messages.map(({ role }) => role);
    expect(shown).toEqual(['system', 'user', 'assistant', 'user']);
    expect(await turn.said()).toHaveLength(4);
    expect(turn.faults).toEqual([]);
  });

  it('calls its tools side by side, answers every call in order, and reports the usage of all its steps', async () => {
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
    const tools = [toolOf('left', slow('L')), toolOf('right', slow('R'))];
    const turn = await begin(callAll('left', 'right'), { tools });
    await turn.done();
    expect(await turn.text()).toBe('Looking. L and R');
    const { calls = [], steps = [] } = (await turn.record()) ?? {};
    expect(calls).toMatchObject([
      { toolName: 'left', state: 'returned' },
      { toolName: 'right', state: 'returned' },
    ]);
    expect(await turn.said()).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(steps).toHaveLength(2);
    const sum = (key: 'inputTokens' | 'outputTokens') =>
      steps.reduce((total, step) => total + (step[key] ?? Number.NaN), 0);
    const usage = { inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') };
    expect(usage.inputTokens).toBeGreaterThan(0);
    expect(await turn.last()).toMatchObject({ type: 'turn-finished', usage });
  });

  it('records a call as dispatched before it is sent', async () => {
    const states: unknown[] = [];
    const world: { states?: () => Promise<unknown> } = {};
    const tool = toolOf('send', async (call) => {
      states.push(await waitUntil(() => world.states?.(), { what: 'the turn' }));
      await call.beforeDispatch();
      states.push(await world.states?.());
      return { type: 'returned', output: 'sent' };
    });
    const turn = await begin(callAll('send'), { tools: [tool] });
    world.states = async () => (await turn.record())?.calls.map(({ state }) => state);
    await turn.done();
    expect(states).toEqual([['intended'], ['dispatched']]);
  });

  it.each([
    ['a result', LEVELS_MAX, 1],
    ['arguments', 1, 2_000],
  ])('with %s nested deeply leaves a conversation that goes on', async (_what, result, given) => {
    const nested = (levels: number): unknown => {
      let value: unknown = 1;
      for (let level = 0; level < levels; level += 1) value = [value];
      return value;
    };
    const { done, turns, saying, ended } = await begin(
      ({ results }) =>
        results.length === 0
          ? { calls: [{ name: 'look', arguments: { n: nested(given) } }] }
          : { text: 'Done.' },
      { tools: [toolOf('look', returning(nested(result)))] },
    );
    expect(await done()).toBe('finished');
    expect(await ended(await turns.begin(saying('And now?')))).toBe('finished');
  });

  it('reports to the model a tool that fails, that does not exist, and that was called wrongly', async () => {
    const calls = [
      { name: 'broken', arguments: {} },
      { name: 'absent', arguments: {} },
      { name: 'broken', arguments: '{"half":' },
    ];
    const turn = await begin(
      ({ results }) =>
        results.length === 0 ? { calls } : { text: results.map(({ text }) => text).join(' | ') },
      { tools: [toolOf('broken', async () => ({ type: 'failed', message: 'The disk is full.' }))] },
    );
    expect(await turn.done()).toBe('finished');
    expect(await turn.text()).toMatch(/^The disk is full\. \| There is no such tool\..* \| .*broken/);
    expect((await turn.events()).filter(({ type }) => type === 'tool-failed')).toHaveLength(3);
  });

  it.each(['here', 'elsewhere'])(
    'that is stopped while it waits ends as stopped, also when the stop was requested %s',
    async (where) => {
      const wait = async (call: ToolCall) => {
        await call.ask(0, FORM);
        return { type: 'returned', output: 'never' } as const;
      };
      const turn = await begin(callAll('wait'), { tools: [toolOf('wait', wait)] });
      await turn.asked();
      const { turns } = where === 'here' ? turn : turn.pod({ pod: 'other' });
      expect(await turns.stop(turn.conversation)).toBe(true);
      expect(await turn.done()).toBe('stopped');
      expect(await turn.last()).toMatchObject({ type: 'turn-finished', reason: 'stopped' });
      expect(turn.faults).toEqual([]);
    },
  );

  it.each<[string, string, ModelFault]>([
    ['stopped', 'in its text', { kind: 'hang', afterChunks: 3 }],
    ['failed', 'in its text', { kind: 'cut', afterChunks: 3 }],
    ['stopped', 'in a call', undefined as never],
  ])(
    'that is %s %s keeps what its person has read, for them and for the model',
    async (end, _where, broken) => {
      const turn = await begin(
        ({ userText }) =>
          userText === 'Go'
            ? { text: 'Half an answer', calls: [{ name: 'hang', arguments: {} }] }
            : { text: 'Yes.' },
        { tools: [toolOf('hang', hang)], fault: broken },
      );
      await waitUntil(async () => (await turn.text()) !== '', { what: 'the first text' });
      if (broken === undefined)
        await waitUntil(async () => (await turn.events()).some(({ type }) => type === 'tool-called'), {
          what: 'the call',
        });
      if (end === 'stopped') expect(await turn.turns.stop(turn.conversation)).toBe(true);
      expect(await turn.done()).toBe(end);
      const seen = await turn.text();
      const { messages } = await turn.turns.history(turn.conversation);
      expect(messages).toMatchObject([
        { role: 'user' },
        { role: 'assistant', parts: [{ type: 'step-start' }, { text: seen }], metadata: { isCut: true } },
      ]);
      fault = undefined;
      expect(await turn.ended(await turn.turns.begin(turn.saying('And?')))).toBe('finished');
      expect(model.current.requests.at(-1)?.body.messages).toMatchObject([
        { role: 'system' },
        { role: 'user' },
        { role: 'assistant', content: `${seen}[This reply was stopped before its end.]` },
        { role: 'user' },
      ]);
    },
  );

  it('that writes nothing notices a stop all the same', async () => {
    const turn = await begin(callAll('hang'), { tools: [toolOf('hang', hang)] });
    const called = async () => (await turn.events()).some(({ type }) => type === 'tool-called');
    await waitUntil(called, { what: 'the call' });
    await turn.backend.runs.stop(turn.run);
    expect(await turn.done()).toBe('stopped');
  });

  it.each([
    { kind: 'refuse', status: 500 },
    { kind: 'cut', afterChunks: 2 },
  ] as const)(
    'whose model fails ($kind) ends with a message for the user, and its cause in the log',
    async (failing) => {
      const turn = await begin(() => ({ text: 'A long sentence that comes in many pieces.' }), {
        fault: failing,
      });
      expect(await turn.done()).toBe('failed');
      expect(await turn.last()).toMatchObject({ type: 'turn-failed', code: 'model_unavailable' });
      expect(turn.faults.map(String)).toEqual([
        expect.stringMatching(/^ModelError: The model could not answer: \S/),
      ]);
      expect(inspect(turn.faults, { depth: 20 })).not.toContain('A discreet helper');
      const seen = await turn.text();
      expect(await turn.said()).toEqual(seen === '' ? ['user'] : ['user', 'assistant']);
    },
  );

  it('ends at its limit of steps', async () => {
    const turn = await begin(() => ({ calls: [{ name: 'again', arguments: {} }] }), {
      tools: [toolOf('again', returning('more'))],
      limits: { steps: 3 },
    });
    await turn.done();
    expect(await turn.last()).toMatchObject({ type: 'turn-finished', reason: 'step-limit' });
    const { steps = [], calls = [] } = (await turn.record()) ?? {};
    expect([steps.length, new Set(calls.map(({ toolCallId }) => toolCallId)).size]).toEqual([3, 3]);
  });

  it('that exceeds its size limit ends with an error, and frees its conversation', async () => {
    const turn = await begin(() => ({ text: 'word '.repeat(5_000) }), { turnBytesMax: 5_000 });
    await turn.done();
    expect(await turn.last()).toMatchObject({ type: 'turn-failed', code: 'too_large' });
    expect((await turn.backend.conversations.read(turn.run)).running).toBeUndefined();
  });
});
