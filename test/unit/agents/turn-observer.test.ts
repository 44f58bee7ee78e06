import { context, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type ScriptedModel,
  startScriptedModel,
} from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';
import type { Tool } from '../../../services/api/src/agents/tools/tool.ts';
import { canary } from '../../harness/canary.ts';
import { answerQuestion } from '../../harness/engines/questions.ts';
import { elicit, listOpen, podOn, readEvents, saying, talk } from '../../harness/turns/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { smallBackend, startWatchedPod, type WatchedPod } from '../runtime/watched-pod.ts';

const PRIVATE = canary('said in a turn');
let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel({
    script: [
      ({ results }) =>
        results.length === 0
          ? { calls: [{ name: 'look', arguments: { at: PRIVATE } }] }
          : { text: `${PRIVATE} is there.` },
    ],
  });
});
afterAll(() => model.stop());

const look: Tool = {
  name: 'look',
  description: PRIVATE,
  inputSchema: { type: 'object', properties: {} },
  call: async () => ({ type: 'returned', output: PRIVATE }),
};

it('counts, logs and traces a turn without any of its content', async () => {
  const watched = await startWatchedPod(smallBackend());
  const backend = smallBackend();
  const { turns } = podOn(backend, model, {
    agents: { helper: { tools: [look] } },
    observer: watched.turnObserver,
  });
  const conversation = talk();
  const run = await turns.begin(saying(conversation, PRIVATE));
  expect(await watched.scrape()).toMatch(/^turns_running 1$/m);
  await waitUntil(() => watched.spans('invoke_agent helper').length === 1, { what: 'the end of the turn' });
  expect((await readEvents(backend, run)).at(-1)).toMatchObject({ type: 'turn-finished' });
  const scraped = await watched.scrape();
  expect(scraped).toMatch(/^turns_total\{outcome="finished"\} 1$/m);
  expect(scraped).toMatch(/^turns_running 0$/m);
  const { streamRequestId, conversationId } = run;
  expect(watched.said()).toMatchObject([{ streamRequestId, agent: 'helper', outcome: 'finished' }]);
  const [begin, ...steps] = watched.spans();
  expect(begin).toMatchObject({ name: 'turn.begin', attributes: { 'gen_ai.agent.id': 'helper' } });
  expect(steps.map(({ name }) => name)).toEqual(['chat', 'execute_tool look', 'chat', 'invoke_agent helper']);
  for (const span of steps)
    expect(span.attributes).toMatchObject({
      'gen_ai.conversation.id': conversationId,
      'gen_ai.agent.id': 'helper',
    });
  const out = [
    ...watched.lines,
    scraped,
    ...watched.spans().map(({ attributes }) => JSON.stringify(attributes)),
  ];
  expect(out.join('\n')).not.toContain(PRIVATE);
  await turns.close();
  await watched.stop();
});

it('a turn continues the trace of its request; its end links to the preceding turn of the conversation', async () => {
  const watched = await startWatchedPod(smallBackend());
  const { turns } = podOn(smallBackend(), model, {
    agents: { helper: { tools: [look] } },
    observer: watched.turnObserver,
  });
  const caller = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags: 1 };
  const within = trace.setSpanContext(ROOT_CONTEXT, caller);
  const conversation = talk();
  for (const count of [1, 2]) {
    await context.with(within, () => turns.begin(saying(conversation, 'hello')));
    await waitUntil(() => watched.spans('invoke_agent helper').length === count, { what: 'the turn to end' });
  }
  const [first, second] = watched.spans('turn.begin').map((span) => span.spanContext().spanId);
  const parents = (name: string) => watched.spans(name).map((span) => span.parentSpanContext?.spanId);
  expect(parents('turn.begin')).toEqual([caller.spanId, caller.spanId]);
  expect(parents('chat')).toEqual([first, first, second, second]);
  expect(parents('execute_tool look')).toEqual([first, second]);
  expect(parents('invoke_agent helper')).toEqual([first, second]);
  expect(new Set(watched.spans().map((span) => span.spanContext().traceId))).toEqual(
    new Set([caller.traceId]),
  );
  const links = watched
    .spans('invoke_agent helper')
    .map((span) => span.links.map((link) => link.context.spanId));
  expect(links).toEqual([[], [first]]);
  await turns.close();
  await watched.stop();
});

it('a turn that another pod continues stays in its trace, with its question and the wait for it', async () => {
  const asking = await startScriptedModel({
    script: [
      ({ results }) =>
        results.length === 0
          ? { calls: [{ name: 'elicit', arguments: { kind: 'text', message: 'Which seat?' } }] }
          : { text: 'Booked.' },
    ],
  });
  const backend = smallBackend();
  const [first, second] = [await startWatchedPod(backend), await startWatchedPod(backend)];
  const pod = ({ engine, turnObserver: observer }: WatchedPod) =>
    podOn(backend, asking, { engine, observer, agents: { helper: { tools: [elicit] } } });
  const conversation = talk();
  const beginner = pod(first);
  await beginner.turns.begin(saying(conversation, 'hello'));
  const open = async () => (await listOpen(second.engine, conversation))[0]?.id ?? '';
  await waitUntil(async () => (await open()) !== '', { what: 'the question' });
  const successor = pod(second);
  await beginner.turns.close();
  await answerQuestion(second.engine, conversation, await open(), 'accept', { answer: '12A' });
  await waitUntil(() => second.spans('invoke_agent helper').length === 1, { what: 'the end of the turn' });

  const begin = first.spans('turn.begin')[0]?.spanContext();
  const requested = first.spans('elicitation.requested')[0];
  const parts = [...first.spans('invoke_agent helper'), ...second.spans('invoke_agent helper')];
  expect(parts.map(({ attributes }) => attributes['parley.outcome'])).toEqual(['handed_over', 'finished']);
  const below = [
    ...parts,
    ...first.spans('chat'),
    ...second.spans('chat'),
    ...second.spans('execute_tool elicit'),
  ];
  for (const span of [...below, requested]) expect(span?.parentSpanContext?.spanId).toBe(begin?.spanId);
  const [wait] = second.spans('elicitation.wait');
  expect(wait?.parentSpanContext?.spanId).toBe(requested?.spanContext().spanId);
  expect(wait?.spanContext().traceId).toBe(begin?.traceId);
  await successor.turns.close();
  await Promise.all([first.stop(), second.stop(), asking.stop()]);
});

it('reports a failing model by the name of the fault only', async () => {
  const watched = await startWatchedPod(smallBackend());
  const failing = { ...model, url: 'http://127.0.0.1:9' };
  const { turns } = podOn(smallBackend(), failing, { observer: watched.turnObserver });
  await turns.begin(saying(talk(), PRIVATE));
  await waitUntil(() => watched.spans('invoke_agent helper').length === 1, { what: 'the end of the turn' });
  expect(watched.spans('chat')[0]?.attributes).toMatchObject({ 'error.type': 'ModelError' });
  expect(await watched.scrape()).toMatch(/^turns_total\{outcome="failed"\} 1$/m);
  await turns.close();
  await watched.stop();
});
