import { context, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { expect, it, onTestFinished } from 'vitest';
import type { Tool } from '../../../services/api/src/agents/run/tool.ts';
import { canary } from '../../harness/canary.ts';
import { answerQuestion } from '../../harness/engines/questions.ts';
import { elicit } from '../../harness/turns/setup.ts';
import { modelOf, worldOn } from '../../harness/turns/site.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { startWatchedPod } from '../runtime/watched-pod.ts';

const PRIVATE = canary('said in a turn');
const model = modelOf(({ userText, results }) => {
  const [, at] = /^look (.*)$/.exec(userText) ?? [];
  if (results.length > 0) return { text: `${PRIVATE} is there.` };
  return at === undefined
    ? { calls: [{ name: 'elicit', arguments: { kind: 'text', message: 'Which seat?' } }] }
    : { calls: [{ name: 'look', arguments: { at } }] };
});

const look: Tool = {
  name: 'look',
  description: PRIVATE,
  inputSchema: { type: 'object', properties: {} },
  call: async () => ({ type: 'returned', output: PRIVATE }),
};

/** A pod whose turns are observed for real. */
async function watch(world = worldOn(model)) {
  const watched = await startWatchedPod(world.backend);
  onTestFinished(() => watched.stop());
  const { engine, turnObserver: observer } = watched;
  const { turns } = world.pod({ engine, observer, agents: { helper: { tools: [look, elicit] } } });
  const untilOver = (count = 1) =>
    waitUntil(() => watched.spans('invoke_agent helper').length === count, { what: 'the end of the turn' });
  return { ...world, ...watched, turns, untilOver };
}

it('counts, logs and traces a turn without any of its content', async () => {
  const { turns, saying, untilOver, scrape, spans, said, events, lines } = await watch();
  const run = await turns.begin(saying(`look ${PRIVATE}`));
  expect(await scrape()).toMatch(/^parley_turns_running 1$/m);
  await untilOver();
  expect((await events(run)).at(-1)).toMatchObject({ type: 'turn-finished' });
  const scraped = await scrape();
  expect(scraped).toMatch(/^parley_turns_total\{outcome="finished"\} 1$/m);
  expect(scraped).toMatch(/^parley_turns_running 0$/m);
  const { streamRequestId, conversationId } = run;
  expect(said()).toMatchObject([{ streamRequestId, agent: 'helper', outcome: 'finished' }]);
  const [begin, ...steps] = spans();
  expect(begin).toMatchObject({ name: 'turn.begin', attributes: { 'gen_ai.agent.id': 'helper' } });
  expect(steps.map(({ name }) => name)).toEqual(['chat', 'execute_tool look', 'chat', 'invoke_agent helper']);
  const common = { 'gen_ai.conversation.id': conversationId, 'gen_ai.agent.id': 'helper' };
  for (const { attributes } of steps) expect(attributes).toMatchObject(common);
  const out = [...lines, scraped, ...spans().map(({ attributes }) => JSON.stringify(attributes))];
  expect(out.join('\n')).not.toContain(PRIVATE);
});

it('a turn continues the trace of its request; its end links to the preceding turn of the conversation', async () => {
  const { turns, saying, untilOver, spans } = await watch();
  const caller = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags: 1 };
  const within = trace.setSpanContext(ROOT_CONTEXT, caller);
  for (const count of [1, 2]) {
    await context.with(within, () => turns.begin(saying('look around')));
    await untilOver(count);
  }
  const [first, second] = spans('turn.begin').map((span) => span.spanContext().spanId);
  const parents = (name: string) => spans(name).map((span) => span.parentSpanContext?.spanId);
  expect(parents('turn.begin')).toEqual([caller.spanId, caller.spanId]);
  expect(parents('chat')).toEqual([first, first, second, second]);
  expect(parents('execute_tool look')).toEqual([first, second]);
  expect(parents('invoke_agent helper')).toEqual([first, second]);
  expect(new Set(spans().map((span) => span.spanContext().traceId))).toEqual(new Set([caller.traceId]));
  const links = spans('invoke_agent helper').map((span) => span.links.map((link) => link.context.spanId));
  expect(links).toEqual([[], [first]]);
});

it('a turn that another pod continues stays in its trace, with its question and the wait for it', async () => {
  const world = worldOn(model);
  const first = await watch(world);
  await first.turns.begin(world.saying('hello'));
  const [asked] = await world.asked();
  const second = await watch(world);
  await first.turns.close();
  await answerQuestion(second.engine, world.conversation, asked?.id ?? '', 'accept', { answer: '12A' });
  await second.untilOver();

  const begin = first.spans('turn.begin')[0]?.spanContext();
  const requested = first.spans('elicitation.requested')[0];
  const parts = [...first.spans('invoke_agent helper'), ...second.spans('invoke_agent helper')];
  expect(parts.map(({ attributes }) => attributes['parley.outcome'])).toEqual(['handed_over', 'finished']);
  const chats = [...first.spans('chat'), ...second.spans('chat')];
  for (const span of [...parts, ...chats, ...second.spans('execute_tool elicit'), requested])
    expect(span?.parentSpanContext?.spanId).toBe(begin?.spanId);
  const [wait] = second.spans('elicitation.wait');
  expect(wait?.parentSpanContext?.spanId).toBe(requested?.spanContext().spanId);
  expect(wait?.spanContext().traceId).toBe(begin?.traceId);
});

it('reports a failing model by the name of the fault only', async () => {
  const away = worldOn({ current: { ...model.current, url: 'http://127.0.0.1:9' } });
  const { turns, saying, untilOver, spans, scrape } = await watch(away);
  await turns.begin(saying(PRIVATE));
  await untilOver();
  expect(spans('chat')[0]?.attributes).toMatchObject({ 'error.type': 'ModelError' });
  expect(await scrape()).toMatch(/^parley_turns_total\{outcome="failed"\} 1$/m);
});
