import { createClient } from '@parley/sdk';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type AskedOfClient, CLIENTS, type ClientAnswer } from '../../harness/mcp-clients/clients.ts';
import { suiteNotRun } from '../../harness/not-run.ts';
import { oldMessage, oldText, openOldA2aClient } from '../../harness/stacks/a2a.ts';
import { STACK_CLIENTS, type StackClient } from '../../harness/stacks/clients.ts';
import { type AskedOfMcpdo, inspector, mcpdo } from '../../harness/stacks/inspector.ts';
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

/** What a client that shows no question gets instead of a result. */
const TOLD = /This call has not failed/;

/** Answers the question whose page a client was told. */
async function answerTold(token: string, told: string): Promise<void> {
  const [, id = ''] = /\/auth\/answer\/(el_[\w-]+)/.exec(told) ?? [];
  const person = createClient({ baseUrl: pods.url, token });
  await person.answer(id, answerTo(await person.get(id)));
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

  describe.each(Object.entries(STACK_CLIENTS))('the client %s', (name, { open, asks, isProgram, notRun }) => {
    if (notRun !== undefined) return suiteNotRun(name, notRun);
    // Of a program, which starts for each call, a few calls show as much.
    const some = <Item>(all: readonly Item[]) => (isProgram ? all.slice(0, 1) : all);
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
      for (const [tool, text] of some([
        ['all__echo', 'Echo: you'],
        ['helper', 'Hello you.'],
      ]))
        expect(await client.call(tool as string, { message: 'you' })).toEqual({ text, isError: false });
    });

    it('gets the refusals of servers', async () => {
      for (const tool of some(['fast__hear', 'use__hear']))
        expect(await client.call(tool, { message: 'refused' })).toEqual({
          text: expect.stringContaining('Not today.'),
          isError: true,
        });
    });

    if (!isProgram)
      it('waits for an approval, which its person gives in another place', async () => {
        const call = () => client.call('held__hear', { message: 'hi' });
        const calling = call();
        await approve(token);
        const first = await calling;
        // A client that shows no question is told at once where to decide.
        const ended = TOLD.test(first.text) ? await call() : first;
        expect(ended).toEqual({ text: 'Heard hi.', isError: false });
      });

    if (!asks)
      it('is told the pages of what agents and servers ask; the same call, once more, gets what came of it', async () => {
        const asking = [{ tool: 'helper', input: { message: 'ask' }, text: 'green' }, ...ASKING];
        for (const { tool, input, text } of some(asking)) {
          const told = await client.call(tool, input);
          expect(told).toEqual({ text: expect.stringMatching(TOLD), isError: true });
          await answerTold(token, told.text);
          expect(await client.call(tool, input)).toEqual({
            text: expect.stringContaining(text),
            isError: false,
          });
        }
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

  describe('MCP Inspector and tasks', () => {
    const { notRun } = STACK_CLIENTS['@modelcontextprotocol/inspector'] ?? {};
    if (notRun !== undefined) return suiteNotRun('MCP Inspector and tasks', notRun);
    const options = async () => ({ url: `${pods.url}/run/v1/mcp`, token: await pods.token() });

    it('its program mcpdo shows what the server of a task asks, and answers with the task', async () => {
      const origins: string[] = [];
      const answer = (asked: AskedOfMcpdo) => {
        origins.push(asked.origin);
        return answerTo(asked);
      };
      const client = await mcpdo({ ...(await options()), answer });
      try {
        const [{ tool, input, text }] = ASKING;
        expect(await client.call(tool, input)).toEqual({
          text: expect.stringContaining(text),
          isError: false,
        });
        expect(origins).toEqual(['task-input-required']);
      } finally {
        await client.close();
      }
    });

    it('its command, which shows nothing, waits for the task that its person approves in another place', async () => {
      const person = await options();
      const client = await inspector('2026-07-28')({ ...person, answer: answerTo });
      const calling = client.call('held__hear', { message: 'hi' });
      await approve(person.token);
      expect(await calling).toEqual({ text: 'Heard hi.', isError: false });
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
      // Its first state is that of the moment at which the stream opens.
      if (states[0] === 'submitted') states.shift();
      expect(states).toEqual(['working', 'input-required']);
      const asked = await client.sendMessage(oldMessage('ask'));
      expect([asked.status.state, oldText(asked.status.message)]).toEqual([
        'input-required',
        'Helper asks: Which colour?',
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
        'Helper asks: Which colour?',
      ]);
      const done = await client.sendMessage(oldMessage('green', asked.id));
      expect(oldText(done.artifacts?.[0])).toContain('Old heard green.');
    });
  });
}

if (hasStacks()) ofStacks();
else suiteNotRun('independent stacks', 'they are not installed; `npm test` installs them');
