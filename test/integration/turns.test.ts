import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { mintStreamRequestId } from '@parley/shared/domain/ids';
import type { ConversationRef } from '@parley/shared/domain/run';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import type { Backend } from '@parley/shared/ports/backend';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ScriptedModel, startScriptedModel } from '../../infra/demo/stand-ins/scripted-model.ts';
import { createElicitTool } from '../../services/api/src/agents/elicit-tool.ts';
import { createTurns } from '../../services/api/src/agents/turns.ts';
import { engineOn } from '../contract/engines.ts';
import { entriesOf } from '../contract/observe.ts';
import { newOwner } from '../contract/questions.ts';
import { ROOMY } from '../contract/settings.ts';
import { waitUntil } from '../harness/wait-until.ts';

let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel({
    script: [
      ({ userText }) =>
        userText === 'ask'
          ? { calls: [{ name: 'elicit', arguments: { kind: 'confirmation', message: 'Sure?' } }] }
          : { text: 'Done.' },
    ],
  });
});
afterAll(() => model.stop());

/** The turns of one pod on a backend. */
function podOn(backend: Backend) {
  const engine = engineOn(backend);
  const turns = createTurns({
    engine,
    runs: backend.runs,
    conversations: backend.conversations,
    heartbeats: backend.heartbeats,
    agents: {
      find: () => ({ id: 'helper' }),
      open: async () => ({
        model: createOpenAICompatible({ name: 'scripted', baseURL: model.url })('scripted'),
        instructions: '',
        tools: [createElicitTool({ timeoutSeconds: 600 })],
        settings: {},
        limits: { steps: 3, tokens: 10_000, workMs: 60_000 },
      }),
    },
    pod: 'pod',
    onFault: () => undefined,
  });
  return { engine, turns };
}

function requestOf(conversation: ConversationRef, content: string) {
  return {
    conversation,
    input: [{ role: 'user', content } as const],
    before: [],
    support: { form: true, url: true },
  };
}

const talk = (): ConversationRef => ({ ...newOwner(), conversationId: 'talk' });

it('a turn whose pod is dead stands in nobody’s way: it ends as interrupted, and its reader is told', async () => {
  const backend = createMemoryBackend(ROOMY);
  const conversation = talk();
  const lost = {
    ...conversation,
    streamRequestId: mintStreamRequestId(),
    agent: 'helper',
    owner: 'a-pod-that-died',
    input: [{ role: 'user', content: 'before' } as const],
    event: { type: 'turn-started', conversationId: 'talk', messageId: 'msg', agent: 'helper' } as const,
  };
  await backend.runs.begin(lost);
  const { turns } = podOn(backend);
  const run = await turns.begin(requestOf(conversation, 'hello'));
  await waitUntil(async () => (await backend.runs.read(run)).run?.status === 'finished', {
    what: 'the turn',
  });
  expect((await backend.runs.read(lost)).run?.status).toBe('failed');
  const told = (await entriesOf(backend.feed, lost)).map(({ event }) => event);
  expect(told.at(-1)).toMatchObject({ type: 'turn-failed', code: 'interrupted' });
  const { messages } = await backend.conversations.read(conversation);
  expect(messages.map(({ role }) => role)).toEqual(['user', 'user', 'assistant']);
  await turns.close();
});

it('a turn whose pod lives is waited for', async () => {
  const backend = createMemoryBackend(ROOMY);
  const conversation = talk();
  const [one, other] = [podOn(backend), podOn(backend)];
  await one.turns.begin(requestOf(conversation, 'ask'));
  await expect(other.turns.begin(requestOf(conversation, 'hello'))).rejects.toMatchObject({
    code: 'turn_running',
  });
  await one.turns.close();
  await other.turns.begin(requestOf(conversation, 'hello'));
  await other.turns.close();
});

it('a pod that goes away ends its turns as interrupted and takes back what they asked', async () => {
  const backend = createMemoryBackend(ROOMY);
  const conversation = talk();
  const { turns, engine } = podOn(backend);
  const run = await turns.begin(requestOf(conversation, 'ask'));
  const owner = { tenant: conversation.tenant, userId: conversation.userId };
  const asked = async () => (await engine.list({ owner, limit: 5 })).rows[0];
  await waitUntil(async () => (await asked())?.status === 'pending', { what: 'the question' });
  await turns.close();
  expect((await asked())?.status).toBe('withdrawn');
  expect((await backend.runs.read(run)).run?.status).toBe('failed');
  expect((await backend.conversations.read(conversation)).running).toBeUndefined();
});
