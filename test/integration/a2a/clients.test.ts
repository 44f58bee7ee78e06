import { type Message, Role, type Task, TaskState } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { ELICITATION_EXTENSION } from '@parley/shared/domain/a2a/extension';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  answer,
  questionsOf,
  say,
  sending,
  stateOf,
  statesOf,
  tasksOf,
  textOf,
  untilAsked,
} from '../../harness/a2a/messages.ts';
import { type A2aSite, BINDINGS, openA2aSite, openClient } from '../../harness/a2a/setup.ts';
import { finishPage, newPerson, PAGE_URL, type Person } from '../../harness/protocols/pods.ts';

/** What a client finds again of a message. */
const seen = ({ messageId, metadata, extensions, referenceTaskIds, parts }: Message) => ({
  ...{ messageId, metadata, extensions, referenceTaskIds },
  contents: parts.map(({ content }) => content?.value),
});

/** The client's messages in the history of a task. */
const own = ({ history }: Task) => history.filter(({ role }) => role === Role.ROLE_USER).map(seen);

let site: A2aSite;
beforeAll(async () => {
  site = await openA2aSite();
});
afterAll(() => site?.stop());

describe.each(BINDINGS)('the stock client over %s, each request to a random pod', (binding) => {
  let person: Person;
  let client: Client;
  let tasks: ReturnType<typeof tasksOf>;
  beforeAll(async () => {
    person = newPerson();
    client = await openClient(site, { binding, token: person.token });
    tasks = tasksOf(client);
  });

  /** Begins a task without waiting for it, and then waits until it asks. */
  const begin = async (message = say('text', { returnImmediately: true })) => {
    const begun = await tasks.reply(message);
    await expect.poll(async () => stateOf(await tasks.get(begun.id))).toBe('INPUT_REQUIRED');
    return begun;
  };

  it('completes a task and reads it again [A2A-01 A2A-02 A2A-11 A2A-44 A2A-58]', async () => {
    const task = await tasks.send('good morning');
    expect([stateOf(task), textOf(task)]).toEqual(['COMPLETED', 'Hello: good morning']);
    expect(await tasks.get(task.id)).toEqual(task);
    const bare = await client.getTask({ id: task.id, tenant: '', historyLength: 0 });
    expect(bare.history).toEqual([]);
  });

  it('takes images, of which the reply says that this agent takes none, and refuses other files', async () => {
    const image = { raw: Buffer.from('89504e470d0a1a0a00', 'hex'), mediaType: 'image/png' };
    const task = await tasks.reply(sending([{ text: 'look' }, image]));
    expect(textOf(task)).toMatch(/^An image was left out: this agent takes no images\.\s+Hello: look\[An/);
    const other = { raw: Buffer.from('%PDF-'), mediaType: 'application/pdf' };
    await expect(tasks.reply(sending([other]))).rejects.toThrow(/only images/);
  });

  it('answers a question of one text by plain text [A2A-05 A2A-06 A2A-09 A2A-39]', async () => {
    const asked = await tasks.send('text');
    expect(stateOf(asked)).toBe('INPUT_REQUIRED');
    expect(asked.status?.message?.extensions).toEqual([ELICITATION_EXTENSION]);
    expect(questionsOf(asked)).toMatchObject([{ mode: 'form', message: 'Which colour?', status: 'pending' }]);
    const done = await tasks.send('green', { taskId: asked.id });
    expect([stateOf(done), done.contextId]).toEqual(['COMPLETED', asked.contextId]);
    expect(textOf(done)).toContain('green');
  });

  it('answers by the extension, all open questions at once, in any order', async () => {
    const asked = await untilAsked(client, await tasks.send('trip text'), 2);
    const trip = questionsOf(asked).findIndex(({ message }) => message === 'How do you travel?');
    const accept = { action: 'accept', content: { seat: 'aisle', bags: 2 } };
    const left = await tasks.reply(answer(asked, accept, trip));
    expect([stateOf(left), questionsOf(left).length]).toEqual(['INPUT_REQUIRED', 1]);
    const done = await tasks.reply(answer(left, { action: 'decline' }));
    expect(stateOf(done)).toBe('COMPLETED');
    for (const heard of ['aisle', 'declined']) expect(textOf(done)).toContain(heard);
  });

  it('streams every state in order and ends where it must answer; the answer continues [A2A-13 A2A-15]', async () => {
    let id = '';
    const states = await statesOf(client.sendMessageStream(say('text')), (task) => {
      id = task.id;
    });
    expect(states).toEqual(['SUBMITTED', 'WORKING', 'INPUT_REQUIRED']);
    const rest = await statesOf(client.sendMessageStream(say('blue', { taskId: id })));
    expect(rest.at(-1)).toBe('COMPLETED');
  });

  it('subscribes on any pod: the task first, then the same states as every other reader [A2A-04 A2A-14 A2A-16]', async () => {
    const begun = await tasks.send('text', { returnImmediately: true });
    const readers = await Promise.all([0, 1].map(() => tasks.follow(begun.id)));
    await expect.poll(async () => stateOf(await tasks.get(begun.id))).toBe('INPUT_REQUIRED');
    readers.push(...(await Promise.all([0, 1].map(() => tasks.follow(begun.id)))));
    await tasks.send('red', { taskId: begun.id });
    for (const { states } of readers)
      expect((await states).slice(-3)).toEqual(['INPUT_REQUIRED', 'WORKING', 'COMPLETED']);
    await expect(statesOf(client.resubscribeTask({ id: begun.id, tenant: '' }))).rejects.toThrow();
  });

  it('waits for a page as auth-required and continues by itself [A2A-17 A2A-18 A2A-19 A2A-21 A2A-22 A2A-36 A2A-37]', async () => {
    const asked = await tasks.send('page');
    expect(stateOf(asked)).toBe('AUTH_REQUIRED');
    const [question] = questionsOf(asked);
    expect(question).toMatchObject({ mode: 'url', url: PAGE_URL });
    const { states } = await tasks.follow(asked.id);
    await finishPage(site.pods[0].engine, person, question?.elicitationId ?? '');
    expect(await states).toEqual(['AUTH_REQUIRED', 'WORKING', 'COMPLETED']);
  });

  it('rejects an auth-required task by the extension [A2A-23]', async () => {
    const asked = await tasks.send('page');
    const consent = answer(asked, { action: 'accept' });
    const decline = answer(await tasks.reply(consent), { action: 'decline' });
    const done = await tasks.reply(decline);
    expect([stateOf(done), textOf(done)]).toEqual(['COMPLETED', expect.stringMatching(/declined/)]);
    expect(own(done).slice(1)).toEqual([consent, decline].map(({ message }) => seen(message)));
  });

  it('cancels a task that waits and one that works; an ended one cannot be canceled', async () => {
    for (const { id } of [await tasks.send('text'), await tasks.send('slow', { returnImmediately: true })]) {
      expect(stateOf(await tasks.cancel(id))).toBe('CANCELED');
      await expect(tasks.cancel(id)).rejects.toThrow();
    }
  });

  it('sees a task rejected that a content filter holds back, and one failed whose agent fails', async () => {
    expect(stateOf(await tasks.send('filter'))).toBe('REJECTED');
    const broken = await openClient(site, { binding, token: person.token, agent: 'broken' });
    expect(stateOf(await tasksOf(broken).send('hello'))).toBe('FAILED');
  });

  it('shows an expired question as ended, and lets the agent continue', async () => {
    const asked = await tasks.send('short');
    const { states } = await tasks.follow(asked.id);
    const sweptState = async () => {
      await site.pods[0].engine.sweep();
      return stateOf(await tasks.get(asked.id));
    };
    await expect.poll(sweptState, { interval: 200 }).not.toBe('INPUT_REQUIRED');
    expect((await states).slice(-2)).toEqual(['WORKING', 'COMPLETED']);
  });

  it('begins one task for a message that is sent twice, and records one answer [A2A-03]', async () => {
    const first = say('text', { returnImmediately: true });
    const [one, two] = await Promise.all([begin(first), begin(first)]);
    expect(one.id).toBe(two.id);
    const reply = say('green', { taskId: one.id });
    const answers = await Promise.all([tasks.reply(reply), tasks.reply(reply)]);
    expect(answers.map(textOf)).toEqual(Array(2).fill(textOf(answers[0] as Task)));
    expect(stateOf(await tasks.reply(reply))).toBe('COMPLETED');
  });

  it('keeps the messages of the client in the history, with ids, metadata and answers', async () => {
    const beside = (name: string) => ({
      metadata: { name },
      extensions: [ELICITATION_EXTENSION],
      referenceTaskIds: [`${name}-1`],
    });
    const parts = [{ text: 'trip text:' }, { data: { city: 'Ghent' } }, { text: 'soon' }];
    const first = sending(parts, { beside: beside('first') });
    const asked = await untilAsked(client, await tasks.reply(first), 2);
    const trip = questionsOf(asked).findIndex(({ message }) => message === 'How do you travel?');
    const accept = (seat: string, name: string) =>
      answer(asked, { action: 'accept', content: { seat } }, trip, { beside: beside(name) });
    await expect(tasks.reply(accept('roof', 'misfit'))).rejects.toThrow();
    const second = accept('aisle', 'second');
    second.message.parts.unshift(...say('Here it is.').message.parts);
    await tasks.reply(second);
    const { opened } = await tasks.follow(asked.id);
    const third = say('green', { taskId: asked.id, beside: beside('third') });
    await tasks.reply(third);
    const done = await tasks.get(asked.id);
    expect(own(opened)).toEqual([first, second].map(({ message }) => seen(message)));
    expect(own(done)).toEqual([first, second, third].map(({ message }) => seen(message)));
    const last = await client.getTask({ id: asked.id, tenant: '', historyLength: 2 });
    expect(own(last)).toEqual([seen(third.message)]);
  });

  it('runs tasks of one context at the same time, each under the context [A2A-52]', async () => {
    const first = await tasks.send('text');
    const second = await tasks.send('text', { contextId: first.contextId });
    expect(second.contextId).toBe(first.contextId);
    expect(second.id).not.toBe(first.id);
    for (const { id } of [second, first])
      expect(stateOf(await tasks.send('grey', { taskId: id }))).toBe('COMPLETED');
  });

  // The JSON-RPC binding of 0.3 has no call that lists tasks.
  if (binding !== 'JSONRPC 0.3')
    it('lists tasks by context and state, in pages, the latest status first [A2A-41]', async () => {
      const { send, list } = tasksOf(await openClient(site, { binding, token: newPerson().token }));
      const asked = await send('text');
      for (const text of ['one', 'two']) await send(text);
      const first = await list({ pageSize: 2 });
      expect([first.tasks.length, first.totalSize]).toEqual([2, 3]);
      const rest = await list({ pageSize: 2, pageToken: first.nextPageToken });
      expect([...first.tasks, ...rest.tasks].map(({ id }) => id)).toContain(asked.id);
      for (const only of [{ status: TaskState.TASK_STATE_INPUT_REQUIRED }, { contextId: asked.contextId }])
        expect((await list(only)).tasks.map(({ id }) => id)).toEqual([asked.id]);
      expect(first.tasks.map(({ id }) => id)).not.toContain(asked.id);
      await send('grey', { taskId: asked.id });
      expect((await list({ pageSize: 1 })).tasks.map(({ id }) => id)).toEqual([asked.id]);
    });
});
