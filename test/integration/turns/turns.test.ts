import { ParleyError } from '@parley/shared/domain/errors';
import type { RunRef } from '@parley/shared/domain/runs/run';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import type { Backend } from '@parley/shared/ports/backend';
import type { Conversations } from '@parley/shared/ports/runs/conversations';
import type { Runs } from '@parley/shared/ports/runs/runs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type ScriptedModel,
  startScriptedModel,
} from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';
import { expectRefusal, readEntries } from '../../harness/engines/observe.ts';
import { answerQuestion } from '../../harness/engines/questions.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { elicit, listOpen, lostRun, podOn, saying, talk } from '../../harness/turns/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const ASK = { name: 'elicit', arguments: { kind: 'confirmation', message: 'Sure?' } };

let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel({
    script: [
      ({ userText, results }) =>
        userText === 'ask' && results.length === 0
          ? { calls: [ASK] }
          : userText === 'ask and break'
            ? { calls: [ASK, { name: 'break', arguments: {} }] }
            : { text: 'Done.' },
    ],
  });
});
afterAll(() => model.stop());

it('a turn whose pod is dead is resumed by another pod, and waited for', async () => {
  const backend = createMemoryBackend(ROOMY);
  const conversation = talk();
  const lost = lostRun(conversation);
  await backend.runs.begin(lost);
  const { turns } = podOn(backend, model);
  expect(await expectRefusal(turns.begin(saying(conversation, 'hello')))).toMatchObject({
    code: 'turn_running',
  });
  expect(await ended(backend, lost)).toBe('finished');
  const run = await turns.begin(saying(conversation, 'hello'));
  expect(await ended(backend, run)).toBe('finished');
  const { messages } = await backend.conversations.read(conversation);
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  await turns.close();
});

it('a turn whose pod is alive is waited for', async () => {
  const backend = createMemoryBackend(ROOMY);
  const conversation = talk();
  const [one, other] = [podOn(backend, model), podOn(backend, model)];
  const run = await one.turns.begin(saying(conversation, 'ask'));
  expect(await expectRefusal(other.turns.begin(saying(conversation, 'hello')))).toMatchObject({
    code: 'turn_running',
  });
  expect(await backend.runs.standing(run)).toMatchObject({ term: 1 });
  await one.turns.stop(conversation);
  await ended(backend, run);
  await other.turns.begin(saying(conversation, 'hello'));
  await Promise.all([one.turns.close(), other.turns.close()]);
});

it('a pod that shuts down hands its turns over: their questions stay open, and the answers arrive', async () => {
  const backend = createMemoryBackend(ROOMY);
  const conversation = talk();
  const { turns, engine } = podOn(backend, model);
  const run = await turns.begin(saying(conversation, 'ask'));
  await waitUntil(async () => (await listOpen(engine, conversation)).length === 1, { what: 'the question' });
  await turns.close();
  const [asked, ...others] = await listOpen(engine, conversation);
  expect([asked?.status, others]).toEqual(['pending', []]);
  expect(await backend.runs.standing(run)).toMatchObject({ status: 'running', owner: 'unowned' });
  const next = podOn(backend, model, { pod: 'next' });
  await waitUntil(async () => (await backend.runs.standing(run))?.owner.startsWith('next/'), {
    what: 'the next pod',
  });
  await answerQuestion(next.engine, conversation, asked?.id ?? '', 'accept', { answer: true });
  expect(await ended(backend, run)).toBe('finished');
  expect(await listOpen(engine, conversation)).toEqual([]);
  await next.turns.close();
});

/** A promise with its resolve function. */
function gate() {
  const opening = new AbortController();
  const { signal } = opening;
  const opened = new Promise((resolve) => {
    signal.addEventListener('abort', resolve);
  });
  return { open: () => opening.abort(), opened };
}

const ended = (backend: Backend, run: RunRef) =>
  waitUntil(
    async () => {
      const standing = await backend.runs.standing(run);
      return standing?.status === 'running' ? undefined : standing?.status;
    },
    { what: 'the end' },
  );

it('a turn that is stopped during its set-up is ended, and one whose pod shuts down is handed over, without a fault', async () => {
  for (const how of ['stop', 'close'] as const) {
    const backend = createMemoryBackend(ROOMY);
    const conversation = talk();
    const reached = gate();
    let refusals = 0;
    const conversations: Conversations = {
      ...backend.conversations,
      async read(ref) {
        // The second look is the turn's own; what comes after it is the stop's.
        refusals += 1;
        if (refusals > 1) return backend.conversations.read(ref);
        reached.open();
        throw new ParleyError('unavailable', 'Away.');
      },
    };
    const { turns, faults } = podOn(backend, model, { conversations });
    const run = await turns.begin(saying(conversation, 'hello'));
    await reached.opened;
    if (how === 'stop') expect(await turns.stop(conversation)).toBe(true);
    else await turns.close();
    if (how === 'stop') expect(await ended(backend, run)).toBe('stopped');
    else expect(await backend.runs.standing(run)).toMatchObject({ status: 'running', owner: 'unowned' });
    expect(faults.map(String).join()).not.toContain('Away');
    await turns.close();
  }
});

it('a short outage of the store during the set-up of a turn is retried', async () => {
  const backend = createMemoryBackend(ROOMY);
  let refusals = 0;
  const conversations: Conversations = {
    ...backend.conversations,
    async read(ref) {
      refusals += 1;
      if (refusals < 3) throw new ParleyError('unavailable', 'Away.');
      return backend.conversations.read(ref);
    },
  };
  const { turns } = podOn(backend, model, { conversations });
  const run = await turns.begin(saying(talk(), 'hello'));
  expect(await ended(backend, run)).toBe('finished');
  await turns.close();
});

it('a turn that begins while its pod shuts down is handed over with the others', async () => {
  const backend = createMemoryBackend(ROOMY);
  const [reached, released] = [gate(), gate()];
  const runs: Runs = {
    ...backend.runs,
    async begin(run) {
      reached.open();
      await released.opened;
      return backend.runs.begin(run);
    },
  };
  const { turns } = podOn(backend, model, { runs });
  const beginning = turns.begin(saying(talk(), 'ask'));
  await reached.opened;
  const closed = turns.close();
  released.open();
  await closed;
  expect(await backend.runs.standing(await beginning)).toMatchObject({ status: 'running', owner: 'unowned' });
});

it('the history that a client sends is kept, except for messages that no conversation can begin with', async () => {
  const backend = createMemoryBackend(ROOMY);
  const conversation = talk();
  const { turns } = podOn(backend, model);
  const before = [
    { role: 'assistant', content: 'Welcome.' },
    { role: 'user', content: 'I am Ada.' },
    { role: 'assistant', content: 'Hello Ada.' },
  ] as const;
  await ended(backend, await turns.begin(saying(conversation, 'one', before)));
  await ended(backend, await turns.begin(saying(conversation, 'two', [{ role: 'user', content: 'Other' }])));
  const shown = model.requests.at(-1)?.body.messages.map(({ content }) => content);
  expect(shown).toEqual(['helper', 'I am Ada.', 'Hello Ada.', 'one', 'Done.', 'two']);
  await turns.close();
});

it('a history that was cut in the middle of a turn begins with a user message', async () => {
  const backend = createMemoryBackend({ ...ROOMY, historyMessagesMax: 3 });
  const conversation = talk();
  const { turns } = podOn(backend, model);
  for (const text of ['one', 'two', 'three']) {
    await ended(backend, await turns.begin(saying(conversation, text)));
  }
  const shown = model.requests.at(-1)?.body.messages.map(({ content }) => content);
  expect(shown).toEqual(['helper', 'two', 'Done.', 'three']);
  await turns.close();
});

it('a turn that ends leaves no question open, whatever it was still asking or waiting for', async () => {
  const backend = createMemoryBackend(ROOMY);
  const conversation = talk();
  const { turns, engine, faults } = podOn(backend, model, {
    agents: {
      helper: {
        tools: [
          elicit,
          {
            name: 'break',
            description: 'Fails the turn once there is a question.',
            inputSchema: { type: 'object', properties: {} },
            async call() {
              await waitUntil(async () => (await listOpen(engine, conversation)).length === 1, {
                what: 'the question',
              });
              throw new Error('A fault of the tool.');
            },
          },
        ],
      },
    },
  });
  const run = await turns.begin(saying(conversation, 'ask and break'));
  expect(await ended(backend, run)).toBe('failed');
  expect(await listOpen(engine, conversation)).toEqual([]);
  expect(faults.map(String)).toEqual(['Error: A fault of the tool.']);
  const entries = await readEntries(backend.feed, run);
  expect(entries.slice(-2).map(({ event }) => event.type)).toEqual(['elicitation-resolved', 'turn-failed']);
  await turns.close();
});
