import { type Task, TaskState } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { ELICITATION_EXTENSION } from '@parley/shared/domain/a2a/extension';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answer, asTask, questionsOf, say, stateOf, statesOf, textOf } from '../../harness/a2a/messages.ts';
import {
  type A2aSite,
  BINDINGS,
  newPerson,
  openA2aSite,
  openClient,
  type Person,
} from '../../harness/a2a/setup.ts';

let site: A2aSite;
beforeAll(async () => {
  site = await openA2aSite();
});
afterAll(() => site?.stop());

describe.each(BINDINGS)('the stock client over %s, each request to a random pod', (binding) => {
  let person: Person;
  let client: Client;
  beforeAll(async () => {
    person = newPerson();
    client = await openClient(site, { binding, token: person.token });
  });

  it('completes a task and reads it again [A2A-01 A2A-02 A2A-11]', async () => {
    const task = await asTask(client.sendMessage(say('good morning')));
    expect([stateOf(task), textOf(task)]).toEqual(['COMPLETED', 'Hello: good morning']);
    expect(await client.getTask({ id: task.id, tenant: '' })).toEqual(task);
    const bare = await client.getTask({ id: task.id, tenant: '', historyLength: 0 });
    expect(bare.history).toEqual([]);
  });

  it('answers a question of one text by plain text [A2A-05 A2A-06 A2A-09 A2A-39]', async () => {
    const asked = await asTask(client.sendMessage(say('text')));
    expect(stateOf(asked)).toBe('INPUT_REQUIRED');
    expect(asked.status?.message?.extensions).toEqual([ELICITATION_EXTENSION]);
    expect(questionsOf(asked)).toMatchObject([{ mode: 'form', message: 'Which colour?', status: 'pending' }]);
    const done = await asTask(client.sendMessage(say('green', { taskId: asked.id })));
    expect([stateOf(done), done.contextId]).toEqual(['COMPLETED', asked.contextId]);
    expect(textOf(done)).toContain('green');
  });

  it('answers by the extension, all open questions at once, in any order', async () => {
    const asked = await asTask(client.sendMessage(say('trip text')));
    const questions = questionsOf(asked);
    expect(questions).toHaveLength(2);
    const trip = questions.findIndex(({ message }) => message === 'How do you travel?');
    const left = await asTask(
      client.sendMessage(answer(asked, { action: 'accept', content: { seat: 'aisle', bags: 2 } }, trip)),
    );
    expect([stateOf(left), questionsOf(left).length]).toEqual(['INPUT_REQUIRED', 1]);
    const done = await asTask(client.sendMessage(answer(left, { action: 'decline' })));
    expect(stateOf(done)).toBe('COMPLETED');
    expect(textOf(done)).toMatch(/aisle/);
    expect(textOf(done)).toMatch(/declined/);
  });

  it('streams every state in order and ends where it must answer; the answer continues [A2A-13 A2A-15]', async () => {
    let task: Task | undefined;
    const states = await statesOf(client.sendMessageStream(say('text')), (one) => {
      task = one;
    });
    expect(states).toEqual(['SUBMITTED', 'WORKING', 'INPUT_REQUIRED']);
    const asked = await client.getTask({ id: task?.id ?? '', tenant: '' });
    const rest = await statesOf(client.sendMessageStream(say('blue', { taskId: asked.id })));
    expect(rest.at(-1)).toBe('COMPLETED');
  });

  it('subscribes on any pod: the task first, then the same states as every other reader [A2A-04 A2A-14 A2A-16]', async () => {
    const begun = await asTask(client.sendMessage(say('text', { returnImmediately: true })));
    const readers = [0, 1].map(() => statesOf(client.resubscribeTask({ id: begun.id, tenant: '' })));
    await expect
      .poll(async () => stateOf(await client.getTask({ id: begun.id, tenant: '' })))
      .toBe('INPUT_REQUIRED');
    const readersOfWait = [0, 1].map(() => statesOf(client.resubscribeTask({ id: begun.id, tenant: '' })));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await client.sendMessage(say('red', { taskId: begun.id }));
    for (const states of await Promise.all([...readers, ...readersOfWait]))
      expect(states.slice(-3)).toEqual(['INPUT_REQUIRED', 'WORKING', 'COMPLETED']);
    await expect(statesOf(client.resubscribeTask({ id: begun.id, tenant: '' }))).rejects.toThrow();
  });

  it('waits for a page as auth-required and continues by itself [A2A-17 A2A-18 A2A-19 A2A-21 A2A-22 A2A-36 A2A-37]', async () => {
    const asked = await asTask(client.sendMessage(say('page')));
    expect(stateOf(asked)).toBe('AUTH_REQUIRED');
    const [question] = questionsOf(asked);
    expect(question).toMatchObject({ mode: 'url', url: 'https://connect.example/page' });
    let subscribed = false;
    const states = statesOf(client.resubscribeTask({ id: asked.id, tenant: '' }), () => {
      subscribed = true;
    });
    await expect.poll(() => subscribed).toBe(true);
    const [pod] = site.pods;
    const service = { kind: 'service', tenant: person.tenant } as const;
    await pod?.engine.complete({ caller: service, id: question?.elicitationId ?? '' } as never);
    expect(await states).toEqual(['AUTH_REQUIRED', 'WORKING', 'COMPLETED']);
  });

  it('rejects an auth-required task by the extension [A2A-23]', async () => {
    const asked = await asTask(client.sendMessage(say('page')));
    const done = await asTask(client.sendMessage(answer(asked, { action: 'decline' })));
    expect([stateOf(done), textOf(done)]).toEqual(['COMPLETED', expect.stringMatching(/declined/)]);
  });

  it('cancels a task that waits and one that works; an ended one cannot be canceled', async () => {
    const waiting = await asTask(client.sendMessage(say('text')));
    const working = await asTask(client.sendMessage(say('slow', { returnImmediately: true })));
    for (const { id } of [waiting, working]) {
      const cancelled = await client.cancelTask({ id, tenant: '', metadata: undefined });
      expect(stateOf(cancelled)).toBe('CANCELED');
      await expect(client.cancelTask({ id, tenant: '', metadata: undefined })).rejects.toThrow();
    }
  });

  it('rejects a task whose answer a content filter holds back', async () => {
    expect(stateOf(await asTask(client.sendMessage(say('filter'))))).toBe('REJECTED');
  });

  it('fails a task whose agent fails', async () => {
    const broken = await openClient(site, { binding, token: person.token, agent: 'broken' });
    expect(stateOf(await asTask(broken.sendMessage(say('hello'))))).toBe('FAILED');
  });

  it('shows an expired question as ended, and lets the agent continue', async () => {
    let subscribed = false;
    const asked = await asTask(client.sendMessage(say('short')));
    const reading = statesOf(client.resubscribeTask({ id: asked.id, tenant: '' }), () => {
      subscribed = true;
    });
    await expect.poll(() => subscribed).toBe(true);
    await expect
      .poll(async () => {
        await site.pods[0]?.engine.sweep();
        return stateOf(await client.getTask({ id: asked.id, tenant: '' }));
      })
      .not.toBe('INPUT_REQUIRED');
    const states = await reading;
    expect(states.slice(-2)).toEqual(['WORKING', 'COMPLETED']);
  });

  it('begins one task for a message that is sent twice, and records one answer [A2A-03]', async () => {
    const first = say('text', { returnImmediately: true });
    const [one, two] = await Promise.all([
      asTask(client.sendMessage(first)),
      asTask(client.sendMessage(first)),
    ]);
    expect(one?.id).toBe(two?.id);
    await expect
      .poll(async () => stateOf(await client.getTask({ id: one.id, tenant: '' })))
      .toBe('INPUT_REQUIRED');
    const reply = say('green', { taskId: one.id });
    const answers = await Promise.all([asTask(client.sendMessage(reply)), asTask(client.sendMessage(reply))]);
    expect(answers.map(textOf)).toEqual([textOf(answers[0] as Task), textOf(answers[0] as Task)]);
    expect(stateOf(await asTask(client.sendMessage(reply)))).toBe('COMPLETED');
  });

  it('runs tasks of one context at the same time, each under the context', async () => {
    const first = await asTask(client.sendMessage(say('text')));
    const { contextId } = first;
    const second = await asTask(client.sendMessage(say('text', { contextId })));
    expect(second.contextId).toBe(contextId);
    expect(second.id).not.toBe(first.id);
    for (const { id } of [second, first])
      expect(stateOf(await asTask(client.sendMessage(say('grey', { taskId: id }))))).toBe('COMPLETED');
  });

  // The JSON-RPC binding of 0.3 has no call that lists tasks.
  it.skipIf(binding === 'JSONRPC 0.3')('lists tasks by context and state, in pages', async () => {
    const other = newPerson();
    const own = await openClient(site, { binding, token: other.token });
    const asked = await asTask(own.sendMessage(say('text')));
    for (const text of ['one', 'two']) await own.sendMessage(say(text));
    const list = (more: object = {}) =>
      own.listTasks({
        tenant: '',
        contextId: '',
        status: 0,
        pageToken: '',
        statusTimestampAfter: undefined,
        ...more,
      });
    const first = await list({ pageSize: 2 });
    expect([first.tasks.length, first.totalSize]).toEqual([2, 3]);
    const rest = await list({ pageSize: 2, pageToken: first.nextPageToken });
    expect([...first.tasks, ...rest.tasks].map(({ id }) => id)).toContain(asked.id);
    const waiting = await list({ status: TaskState.TASK_STATE_INPUT_REQUIRED });
    expect(waiting.tasks.map(({ id }) => id)).toEqual([asked.id]);
    expect((await list({ contextId: asked.contextId })).tasks.map(({ id }) => id)).toEqual([asked.id]);
  });
});
