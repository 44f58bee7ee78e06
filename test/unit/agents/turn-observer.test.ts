import { once } from 'node:events';
import { context, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type ScriptedModel,
  startScriptedModel,
} from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';
import type { Tool } from '../../../services/api/src/agents/tools/tool.ts';
import { canary } from '../../harness/canary.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { podOn, readEvents, saying, talk } from '../../integration/turns/setup.ts';
import { smallBackend, startWatchedPod } from '../runtime/watched-pod.ts';

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

it('a turn that another pod continues stays in its trace', async () => {
  const watched = await startWatchedPod(smallBackend());
  const backend = smallBackend();
  let calls = 0;
  const slow: Tool = {
    ...look,
    async call({ signal }) {
      calls += 1;
      if (calls === 1) await once(signal, 'abort');
      signal.throwIfAborted();
      return { type: 'returned', output: '' };
    },
  };
  const options = { agents: { helper: { tools: [slow] } }, observer: watched.turnObserver };
  const first = podOn(backend, model, options);
  await first.turns.begin(saying(talk(), 'hello'));
  await waitUntil(() => calls === 1, { what: 'the call' });
  const second = podOn(backend, model, options);
  await first.turns.close();
  await waitUntil(() => watched.spans('invoke_agent helper').length === 2, {
    what: 'both parts of the turn',
  });
  const begin = watched.spans('turn.begin')[0]?.spanContext().spanId;
  const parts = watched.spans('invoke_agent helper');
  expect(parts.map(({ attributes }) => attributes['parley.outcome'])).toEqual(['handed_over', 'finished']);
  for (const span of [...parts, ...watched.spans('chat')]) expect(span.parentSpanContext?.spanId).toBe(begin);
  await second.turns.close();
  await watched.stop();
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
