import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { AskedOfClient } from '../../harness/mcp-clients/clients.ts';
import { suiteNotRun } from '../../harness/not-run.ts';
import { oldMessage, oldText, openOldA2aClient } from '../../harness/stacks/a2a.ts';
import { STACK_CLIENTS, type StackClient } from '../../harness/stacks/clients.ts';
import { hasStacks } from '../../harness/stacks/packages.ts';
import { openStackPods, type StackPods } from './stack-site.ts';

let pods: StackPods;

function ofStacks(): void {
  beforeAll(async () => {
    // Some of the servers write there what they do.
    for (const level of ['log', 'warn'] as const) vi.spyOn(console, level).mockReturnValue();
    pods = await openStackPods();
  });
  afterAll(async () => {
    await pods?.stop();
    vi.restoreAllMocks();
  });

  describe.each(Object.entries(STACK_CLIENTS))('the client %s', (name, { open, asks, notRun }) => {
    if (notRun !== undefined) return suiteNotRun(name, notRun);
    const asked: AskedOfClient[] = [];
    let client: StackClient;
    beforeAll(async () => {
      client = await open({
        url: `${pods.url}/run/v1/mcp`,
        token: await pods.token(),
        answer(question) {
          asked.push(question);
          return { action: 'accept', content: { answer: 'green' } };
        },
      });
    });
    afterAll(() => client?.close());

    it('lists agents and the tools of servers, and gets what they return', async () => {
      const servers = ['fast', 'use'].flatMap((server) => [`${server}__hear`, `${server}__book`]);
      expect(await client.listTools()).toEqual(expect.arrayContaining(['helper', ...servers, 'all__echo']));
      expect(await client.call('helper', { message: 'you' })).toEqual({ text: 'Hello you.', isError: false });
      expect(await client.call('all__echo', { message: 'hi' })).toEqual({ text: 'Echo: hi', isError: false });
    });

    it('gets the refusals of servers', async () => {
      for (const tool of ['fast__hear', 'use__hear'])
        expect(await client.call(tool, { message: 'refused' })).toEqual({
          text: expect.stringContaining('Not today.'),
          isError: true,
        });
    });

    if (asks)
      it('shows what agents and servers ask, and passes the answer on', async () => {
        asked.length = 0;
        expect((await client.call('helper', { message: 'ask' })).text).toContain('green');
        for (const tool of ['fast__book', 'use__book'])
          expect((await client.call(tool, { message: 'room' })).text).toBe('room: accept green');
        expect(asked.map(({ message, mode = 'form' }) => [message, mode])).toEqual(
          Array.from({ length: 3 }, () => ['Which colour?', 'form']),
        );
      });
  });

  describe('the SDK of A2A 0.3', () => {
    it('completes, answers and cancels tasks, and streams their states', async () => {
      const client = await openOldA2aClient(`${pods.url}/run/a2a/helper/`, await pods.token());
      const done = await client.sendMessage(oldMessage('you'));
      expect([done.status.state, oldText(done.artifacts?.[0])]).toEqual(['completed', 'Hello you.']);
      const states: (string | undefined)[] = [];
      for await (const { status } of client.sendMessageStream(oldMessage('ask'))) states.push(status?.state);
      expect(states).toEqual(['submitted', 'working', 'input-required']);
      const asked = await client.sendMessage(oldMessage('ask'));
      expect([asked.status.state, oldText(asked.status.message)]).toEqual([
        'input-required',
        'Which colour?',
      ]);
      const answered = await client.sendMessage(oldMessage('green', asked.id));
      expect([answered.status.state, oldText(answered.artifacts?.[0])]).toEqual([
        'completed',
        expect.stringContaining('green'),
      ]);
      const other = await client.sendMessage(oldMessage('ask'));
      expect((await client.cancelTask({ id: other.id })).status.state).toBe('canceled');
      await expect(client.getTask({ id: 'none' })).rejects.toThrow('Task not found');
    });

    it('is a remote agent, whose question reaches the person', async () => {
      const client = await openOldA2aClient(`${pods.url}/run/a2a/helper/`, await pods.token());
      const asked = await client.sendMessage(oldMessage('old'));
      expect([asked.status.state, oldText(asked.status.message)]).toEqual([
        'input-required',
        'Which colour?',
      ]);
      const done = await client.sendMessage(oldMessage('green', asked.id));
      expect(oldText(done.artifacts?.[0])).toContain('Old heard green.');
    });
  });
}

if (hasStacks()) ofStacks();
else suiteNotRun('independent stacks', 'they are not installed; `npm test` installs them');
