import { createClient } from '@parley/sdk';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type AskedOfClient, CLIENTS, type ClientAnswer } from '../../harness/mcp-clients/clients.ts';
import { suiteNotRun } from '../../harness/not-run.ts';
import { oldMessage, oldText, openOldA2aClient } from '../../harness/stacks/a2a.ts';
import { STACK_CLIENTS, type StackClient } from '../../harness/stacks/clients.ts';
import { hasStacks } from '../../harness/stacks/packages.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { openStackPods, type StackPods } from './stack-site.ts';

/** The tools of servers that ask, and what they return once they were answered by `answerTo`. */
const ASKING = [
  { tool: 'fast__book', input: { message: 'room' }, mode: 'form', text: 'room: accept green' },
  { tool: 'use__book', input: { message: 'room' }, mode: 'form', text: 'room: accept green' },
  { tool: 'all__trigger-elicitation-request', input: {}, mode: 'form', text: '"name": "Ada"' },
  {
    tool: 'all__trigger-url-elicitation',
    input: { url: 'https://a.example/terms' },
    mode: 'url',
    text: '"action": "accept"',
  },
] as const;

/** Only the everything server has a form with several fields. */
function answerTo({ mode, requestedSchema }: AskedOfClient): ClientAnswer {
  if (mode === 'url') return { action: 'accept' };
  const { properties = {} } = requestedSchema as { readonly properties?: object };
  return { action: 'accept', content: 'answer' in properties ? { answer: 'green' } : { name: 'Ada' } };
}

/** Approves what waits for the person. */
async function approve(token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const waiting = async () => {
    const reply = await fetch(`${pods.url}/v1/approvals?status=pending`, { headers });
    const { approvals } = (await reply.json()) as { readonly approvals: readonly { approvalId: string }[] };
    return approvals[0];
  };
  const { approvalId } = await waitUntil(waiting, { what: 'the approval' });
  await createClient({ baseUrl: pods.url, token }).decide(approvalId, { decision: 'approve' });
}

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
    let token: string;
    beforeAll(async () => {
      token = await pods.token();
      client = await open({
        url: `${pods.url}/run/v1/mcp`,
        token,
        answer(question) {
          asked.push(question);
          return answerTo(question);
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

    it('waits for an approval, which its person gives in another place', async () => {
      const calling = client.call('held__hear', { message: 'hi' });
      await approve(token);
      expect(await calling).toEqual({ text: 'Heard hi.', isError: false });
    });

    if (asks)
      it('shows what agents and servers ask, and passes the answer on', async () => {
        asked.length = 0;
        expect((await client.call('helper', { message: 'ask' })).text).toContain('green');
        for (const { tool, input, text } of ASKING.filter(({ mode }) => mode === 'form'))
          expect((await client.call(tool, input)).text).toContain(text);
        expect(asked.map(({ mode = 'form' }) => mode)).toEqual(['form', 'form', 'form', 'form']);
      });
  });

  // Of each package and revision one.
  const official = Object.entries(CLIENTS).filter(([name]) => name !== 'v2 (2025-11-25)');
  it.each(official)('servers ask through the official client %s, too', async (_name, open) => {
    const modes: string[] = [];
    const client = await open({
      urls: [pods.url],
      token: await pods.token(),
      answer(question) {
        modes.push(question.mode ?? 'form');
        return answerTo(question);
      },
    });
    for (const { tool, input, text } of ASKING)
      expect((await client.call('', { tool, input })).text).toContain(text);
    expect(modes).toEqual(ASKING.map(({ mode }) => mode));
    await client.close();
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
