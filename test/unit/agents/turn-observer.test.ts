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
  expect(watched.spans().map(({ name }) => name)).toEqual([
    'chat',
    'execute_tool look',
    'chat',
    'invoke_agent helper',
  ]);
  for (const span of watched.spans())
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
