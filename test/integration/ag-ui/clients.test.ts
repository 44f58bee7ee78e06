/** Stock clients of AG-UI, over two pods: each run goes to the other one. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  CLIENTS,
  connectStock,
  resolved,
  runStock,
  type StockInterrupt,
  textOfAgent,
} from '../../harness/ag-ui/clients.ts';
import { AG_UI_SERVING, type AgUiSite, openAgUiSite, paid, work } from '../../harness/ag-ui/site.ts';
import { answerQuestion } from '../../harness/engines/questions.ts';
import { paced } from '../../harness/pace.ts';
import { finishPage, newPerson, openQuestion, PAGE_URL, serveOn } from '../../harness/protocols/pods.ts';
import { waitUntil } from '../../harness/wait-until.ts';

let site: AgUiSite;
beforeAll(async () => {
  site = await openAgUiSite();
});
afterAll(() => site.stop());

type Client = (typeof CLIENTS)[number];

/** A person with a stock client. Each run goes to the other pod. */
function talking(client: Client, token?: string, { person = newPerson(), threadId = randomUUID() } = {}) {
  const headers = {
    authorization: `Bearer ${token ?? person.token}`,
    ...(token !== undefined && { 'parley-user': person.userId }),
  };
  let requests = 0;
  const urlOf = () => `${site.pods[requests++ % 2 === 0 ? 0 : 1].url}/run/ag-ui/helper`;
  const open = () => client.open({ url: urlOf(), threadId, headers });
  const agent = open();
  return {
    agent,
    person,
    headers,
    threadId,
    urlOf,
    run: (...[parameters, text]: [Parameters<typeof runStock>[1]?, string?]) => {
      agent.url = urlOf();
      return runStock(agent, parameters, text);
    },
    /** The same thread in a client that has nothing of it. */
    reloaded: open,
    engine: site.pods[1].engine,
  };
}

const cancelled = (interrupt: StockInterrupt | undefined) => ({
  interruptId: interrupt?.id,
  status: 'cancelled',
});

describe.each(CLIENTS)('the stock client $version', (client) => {
  it('answers a question in the next run, which sends results only', async () => {
    const { agent, run } = talking(client);
    const first = await run({}, 'text');
    const [asked] = first.interrupts;
    expect(asked).toMatchObject({
      reason: 'input_required',
      message: 'Which colour?',
      responseSchema: { properties: { answer: { type: 'string' } } },
      metadata: { parley: { v: 1, status: 'pending', mode: 'form' } },
    });
    const second = await run({ resume: [resolved(asked, { answer: 'green' })] });
    expect(textOfAgent(agent)).toMatch(/^Step 0\. Heard: .*green/);
    expect(second.end).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    expect(second.types.slice(0, 2)).toEqual(['RUN_STARTED', 'TOOL_CALL_RESULT']);
    expect(second.types).not.toContain('TOOL_CALL_START');
    // Another turn of the thread has other ids, also where the model numbers its calls anew.
    const third = await run({}, 'trip');
    await run({ resume: [resolved(third.interrupts[0], { seat: 'aisle' })] });
    expect(new Set(agent.messages.map(({ id }) => id)).size).toBe(agent.messages.length);
    expect(agent.messages.map(({ role }) => role).join(' ')).toBe(
      'user assistant tool assistant user assistant tool assistant',
    );
  });

  it.each([
    ['declines', (one?: StockInterrupt) => resolved(one, false), 'declined'],
    ['cancels', cancelled, 'cancelled'],
  ])('%s a question', async (_what, entry, outcome) => {
    const { agent, run } = talking(client);
    const { interrupts } = await run({}, 'trip');
    await run({ resume: [entry(interrupts[0])] });
    expect(textOfAgent(agent)).toContain(`Heard: ${outcome}`);
  });

  it.each([
    ['approves', { approved: true }, [{ amount: 7 }], 'paid {"amount":7}'],
    ['edits', { approved: true, editedArgs: { amount: 3 } }, [{ amount: 3 }], 'The user changed'],
    ['denies', { approved: false, reason: 'Too dear.' }, [], 'Too dear.'],
  ])('%s a call', async (_what, payload, sent, heard) => {
    const { agent, run } = talking(client);
    const { interrupts, events } = await run({}, 'pay');
    const call = events.find(({ type }) => type === 'TOOL_CALL_START') as { toolCallId?: string } | undefined;
    expect(interrupts).toMatchObject([{ reason: 'tool_call', toolCallId: call?.toolCallId }]);
    expect(Object.keys(interrupts[0]?.responseSchema?.properties ?? {})).toEqual([
      'approved',
      'editedArgs',
      'reason',
      'remember',
    ]);
    const before = paid.length;
    await run({ resume: [resolved(interrupts[0], payload)] });
    expect(paid.slice(before)).toEqual(sent);
    expect(textOfAgent(agent)).toContain(heard);
  });

  it('answers all that is open together, and is asked again in a later step', async () => {
    const { agent, run, reloaded } = talking(client);
    const { interrupts } = await run({}, 'text trip. pay');
    expect(interrupts.map(({ message }) => message).sort()).toEqual(['How do you travel?', 'Which colour?']);
    const [colour, trip] = interrupts.toSorted(({ message = '' }) => (message === 'Which colour?' ? -1 : 1));
    const answers = [resolved(colour, { answer: 'red' }), resolved(trip, { seat: 'aisle' })];
    // A client that lets part of the answers through is told so, and nothing is recorded.
    const part = await runStock(reloaded(), { resume: answers.slice(0, 1) });
    expect(part.code).toBe('invalid_request');
    const second = await run({ resume: answers });
    expect(second.interrupts).toMatchObject([{ reason: 'tool_call' }]);
    await run({ resume: [resolved(second.interrupts[0], { approved: true })] });
    expect(textOfAgent(agent)).toMatch(/^Step 0\. Step 2\. Heard: .*red.*aisle.*paid/);
  });

  it('records none of its answers where one of them is refused', async () => {
    const { agent, run, reloaded } = talking(client);
    const { interrupts } = await run({}, 'trip text pay');
    const asked = ['How do you travel?', 'Which colour?', 'The helper wants to call pay of Bank.'];
    const [trip, colour, call] = asked.map((text) => interrupts.find(({ message }) => message === text));
    const answers = (seat: string, answer: unknown, decision: object) => ({
      resume: [resolved(trip, { seat }), resolved(colour, answer), resolved(call, decision)],
    });
    const [red, yes] = [{ answer: 'red' }, { approved: true }];
    const wrong = [
      ['nonsense', yes],
      [{ answer: 7 }, yes],
      [red, { ...yes, editedArgs: { amount: 'much' } }],
      [red, { ...yes, editedArgs: { amount: 3 }, remember: true }],
    ] as const;
    for (const [answer, decision] of wrong)
      expect((await runStock(reloaded(), answers('aisle', answer, decision))).code).toBe('invalid_answer');
    const { types } = await run(answers('window', red, yes));
    expect(types).not.toContain('CUSTOM');
    expect(textOfAgent(agent)).toMatch(/window.*red.*paid/);
  });

  it('is told that its answer was not taken where another one came first, and goes on', async () => {
    const { agent, run, engine, person } = talking(client);
    const { interrupts } = await run({}, 'trip');
    await answerQuestion(engine, person, interrupts[0]?.id ?? '', 'accept', { seat: 'window' });
    const late = { resume: [resolved(interrupts[0], { seat: 'aisle' })] };
    const { events } = await run(late);
    expect(events.find(({ type }) => type === 'CUSTOM')).toMatchObject({
      name: 'parley:answer-ignored',
      value: { interruptId: interrupts[0]?.id, status: 'accepted' },
    });
    expect(textOfAgent(agent)).toContain('Heard: {"seat":"window"}');
  });

  it('opens a page, comes back while it waits, and goes on once it is done', async () => {
    const { agent, run, engine, person } = talking(client);
    const { interrupts } = await run({}, 'page');
    expect(interrupts).toMatchObject([
      {
        reason: 'parley:open_page',
        message: `Open it.\n\n${PAGE_URL}`,
        metadata: { parley: { url: PAGE_URL } },
      },
    ]);
    const waiting = await run({ resume: [resolved(interrupts[0], true)] });
    expect(waiting.interrupts).toMatchObject([
      { id: interrupts[0]?.id, metadata: { parley: { status: 'opened' } } },
    ]);
    await finishPage(engine, person, interrupts[0]?.id ?? '');
    const done = await run({ resume: [resolved(interrupts[0], true)] });
    expect(done.code).toBeUndefined();
    expect(textOfAgent(agent)).toContain('Heard: accepted');
  });

  it('is led to the page for a form with sensitive answers', async () => {
    const { run, engine, person } = talking(client);
    const { interrupts } = await run({}, 'private');
    expect(interrupts).toMatchObject([{ reason: 'parley:open_page' }]);
    expect((await openQuestion(engine, person)).definition.mode).toBe('form');
  });

  it('repeats a run and the answers to it under the same id without doing anything twice', async () => {
    const { run, reloaded } = talking(client);
    const before = paid.length;
    const { interrupts } = await run({ runId: 'r1' }, 'pay');
    const again = reloaded();
    const repeated = await runStock(again, { runId: 'r1' }, 'pay');
    expect(repeated.interrupts.map(({ id }) => id)).toEqual(interrupts.map(({ id }) => id));
    const resume = [resolved(interrupts[0], { approved: true })];
    const results = await Promise.all([
      run({ runId: 'r2', resume }),
      runStock(again, { runId: 'r2', resume }),
    ]);
    expect(results.map(({ code }) => code)).toEqual([undefined, undefined]);
    const third = reloaded();
    await runStock(third, { runId: 'r1' }, 'pay');
    for (const text of [again, third].map(textOfAgent)) expect(text).toContain('paid {"amount":7}');
    expect(paid.slice(before)).toEqual([{ amount: 7 }]);
    // A client that has part of the reply does not send the same messages.
    for (const text of [undefined, 'pay']) {
      const { events } = await runStock(third, { runId: 'r1' }, text);
      expect(events.at(-1)).toMatchObject({ message: expect.stringContaining('onnect to the thread') });
    }
  });

  it('names the runs of its thread only, and of its service key', async () => {
    const [person, { tenant }, threadId] = [newPerson(), newPerson(), randomUUID()];
    const clients = [
      talking(client, undefined, { person }),
      talking(client, undefined, { person }),
      talking(client, `key/${tenant}`, { person, threadId }),
      talking(client, `other-key/${tenant}`, { person, threadId }),
    ];
    for (const [at, { agent, run }] of clients.entries()) {
      expect((await run({ runId: 'run-1' }, `Hello ${at}`)).code).toBeUndefined();
      expect(textOfAgent(agent)).toBe(`Heard: Hello ${at}`);
    }
  });

  it('learns that the turn was stopped, also where it has connected to it', async () => {
    const { agent, run, reloaded, person, threadId } = talking(client);
    onTestFinished(() => work.release());
    const first = run({}, 'wait');
    await waitUntil(() => agent.messages.at(-1)?.toolCalls, { what: 'the call' });
    const again = reloaded();
    const connected = connectStock(again);
    await waitUntil(() => again.messages.at(-1)?.toolCalls, { what: 'the call again' });
    await site.pods[0].turns.stop({ ...person, conversationId: threadId });
    work.release();
    const cancelled = client.version === '1.0.0' && { outcome: { type: 'cancelled' } };
    for (const { end } of await Promise.all([first, connected])) {
      expect(end).toMatchObject({ type: 'RUN_FINISHED', ...cancelled });
      if (!cancelled) expect(end).not.toHaveProperty('outcome');
    }
  });

  it('connects to a thread on another pod, and answers there', async () => {
    const { run, reloaded } = talking(client);
    const empty = reloaded();
    expect((await connectStock(empty)).types).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED']);
    await run({}, 'Hello');
    const { interrupts } = await run({}, 'trip');
    const agent = reloaded();
    const connected = await connectStock(agent);
    expect(connected.interrupts.map(({ id }) => id)).toEqual(interrupts.map(({ id }) => id));
    expect(agent.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    await runStock(agent, { resume: [resolved(connected.interrupts[0], { seat: 'aisle' })] });
    expect(textOfAgent(agent)).toMatch(/^Heard: HelloStep 0\. Heard: .*aisle/);
    const over = reloaded();
    expect((await connectStock(over)).end).toMatchObject({ outcome: { type: 'success' } });
    expect(textOfAgent(over)).toBe(textOfAgent(agent));
    expect(over.messages.map(({ role }) => role)).toEqual(agent.messages.map(({ role }) => role));
  });

  it('is refused with our codes', async () => {
    const { run, reloaded, agent, person, engine } = talking(client);
    const { interrupts } = await run({}, 'trip');
    const id = interrupts[0]?.id;
    const codeOf = async (...[parameters, text]: [Parameters<typeof runStock>[1]?, string?]) => {
      const other = reloaded();
      other.messages = agent.messages.slice(0, text === undefined ? undefined : -1);
      return (await runStock(other, parameters, text)).code;
    };
    const codes = [
      await codeOf({}, 'Hello?'),
      await codeOf({ resume: [{ ...resolved(interrupts[0], { seat: 'roof' }) }] }),
      await codeOf({ resume: [{ ...resolved(interrupts[0], 'aisle') }] }),
      await codeOf({ resume: [{ interruptId: 'el_unknown', status: 'cancelled' }] }),
      await codeOf({
        resume: [resolved(interrupts[0], { seat: 'aisle' }), { interruptId: 'x', status: 'cancelled' }],
      }),
    ];
    expect(codes).toEqual(['turn_running', 'invalid_answer', 'invalid_answer', 'not_found', 'not_found']);
    const own = agent.messages.map((one) => (one.role === 'assistant' ? { ...one, id: 'own-2' } : one));
    const others = [
      [agent.messages, 'And eat!'],
      [agent.messages, 'trip'],
      [own, 'And eat!'],
    ] as const;
    for (const [messages, text] of others) {
      const beside = reloaded();
      beside.messages = [...messages];
      const lost = await runStock(beside, { resume: [resolved(interrupts[0], { seat: 'aisle' })] }, text);
      expect(lost.code).toBe('invalid_request');
    }
    const stranger = talking(client);
    const ofAnother = await stranger.run({ resume: [{ interruptId: id, status: 'cancelled' }] });
    expect(ofAnother.code).toBe('not_found');
    expect((await openQuestion(engine, person)).status).toBe('pending');
  });

  it('cancels what has expired, and cannot answer it', async () => {
    const { agent, run, reloaded } = talking(client);
    const { interrupts } = await run({}, 'short');
    const wrong = { resume: [resolved(interrupts[0], { answer: 7 })] };
    const codes = new Set<string | undefined>();
    await waitUntil(async () => codes.add((await runStock(reloaded(), wrong)).code).has('expired'), {
      what: 'the deadline',
      everyMs: 200,
    });
    expect([...codes].filter((code) => code !== 'invalid_answer')).toEqual(['expired']);
    if (client.version === '0.0.59') agent.pendingInterrupts = [];
    await run({ resume: [cancelled(interrupts[0])] });
    expect(textOfAgent(agent)).toContain('Heard: expired');
  });

  it('speaks for a person with a service key, who alone answers', async () => {
    const owner = newPerson();
    const { agent, run, engine, person, threadId } = talking(client, `key/${owner.tenant}`);
    const their = { tenant: owner.tenant, userId: person.userId };
    const { interrupts } = await run({}, 'trip. pay');
    expect(interrupts).toMatchObject([{ reason: 'parley:open_page' }]);
    const [form] = interrupts;
    expect((await run({ resume: [resolved(form, true)] })).interrupts).toHaveLength(1);
    const refused = talking(client, `key/${owner.tenant}`);
    expect((await refused.run({ resume: [resolved(form, true)] })).code).toBe('not_found');
    await answerQuestion(engine, their, form?.id ?? '', 'accept', { seat: 'aisle' });
    const second = await run({ resume: [resolved(form, true)] });
    expect(second.interrupts).toMatchObject([{ reason: 'tool_call' }]);
    const silent = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const decided = run({ resume: [resolved(second.interrupts[0], { approved: true })] });
    await expect(decided).rejects.toThrow('HTTP 403');
    silent.mockRestore();
    expect(textOfAgent(agent)).toBe('Step 0. Step 1. ');
    // The person has threads of their own.
    const own = client.open({
      url: `${site.pods[0].url}/run/ag-ui/helper`,
      threadId,
      headers: { authorization: `Bearer ${their.tenant}/${their.userId}` },
    });
    await connectStock(own);
    expect(own.messages).toEqual([]);
  });

  it.each([
    ['the pod drains', 'unavailable'],
    ['its token expires', 'token_expired'],
  ])('is told that the turn goes on when %s, and connects again', async (_what, code) => {
    const { agent, reloaded, headers } = talking(client);
    const pod = await serveOn(site.pods[0], AG_UI_SERVING);
    onTestFinished(() => {
      work.release();
      pod.stop();
    });
    agent.url = `${pod.url}/run/ag-ui/helper`;
    const expiring = { ...headers, 'x-expires-at': String(Date.now() + paced(5_000)) };
    if (code === 'token_expired') (agent as { headers?: object }).headers = expiring;
    const run = runStock(agent, {}, 'wait');
    await waitUntil(() => textOfAgent(agent) !== '' && agent.messages.at(-1)?.toolCalls, {
      what: 'the call',
    });
    if (code === 'unavailable') pod.drain();
    const told = await run;
    expect(told.code).toBe(code);
    // It holds also for a connection whose place another one took.
    if (code === 'unavailable')
      expect(told.events.at(-1)).toMatchObject({
        message: 'This connection has ended. The turn goes on; connect to the thread to read on.',
      });
    const again = reloaded();
    const connected = connectStock(again);
    await waitUntil(() => again.messages.at(-1)?.toolCalls, { what: 'the call again' });
    work.release();
    expect((await connected).end).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    expect(textOfAgent(again)).toBe('Step 0. Heard: waited');
  });

  it.each([
    ['401 without a token', {}, 'HTTP 401'],
    ['403 with a service key that names nobody', { authorization: 'Bearer key/acme' }, 'HTTP 403'],
  ])('fails with the status %s', async (_what, headers, status) => {
    const silent = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const agent = client.open({ url: `${site.pods[0].url}/run/ag-ui/helper`, headers });
    await expect(runStock(agent, {}, 'Hello')).rejects.toThrow(status);
    silent.mockRestore();
  });
});

it('an agent declares what it can do, and none that is not there', async () => {
  const { headers } = talking(CLIENTS[0]);
  const read = (path: string) => fetch(`${site.pods[0].url}/run/ag-ui/${path}`, { headers });
  expect(await (await read('helper/capabilities')).json()).toMatchObject({
    identity: { name: 'The helper' },
    tools: { clientProvided: false },
    humanInTheLoop: { interrupts: true, approveWithEdits: true },
  });
  expect((await read('other/capabilities')).status).toBe(404);
  expect(await (await read('other?threadId=t')).text()).toContain('"code":"not_found"');
});
