import { ProtocolError } from '@modelcontextprotocol/server';
import { DETACHED } from '@parley/shared/domain/runs/run';
import { createLog } from '@parley/shared/observe/log';
import { expect, it, onTestFinished } from 'vitest';
import { createMcpTools } from '../../../services/api/src/agents/mcp/calls/mcp-tools.ts';
import { createRoundSeals } from '../../../services/api/src/agents/tools/passthrough/rounds.ts';
import { wireEraseUser } from '../../../services/api/src/wiring/erase-user.ts';
import { describeOnRedis } from '../../harness/engines/describe-on-redis.ts';
import { dispatchOn, engineOn } from '../../harness/engines/engines.ts';
import { answerQuestion } from '../../harness/engines/questions.ts';
import {
  beginSession,
  hear,
  modern,
  modernExchange,
  SHOWS_ALL,
  send,
} from '../../harness/mcp-clients/raw.ts';
import { ANSWER_PAGE_URL, mcpSurface, openMcpSite, recordsClock } from '../../harness/mcp-clients/setup.ts';
import { createAskingFixture } from '../../harness/mcp-servers/asking.ts';
import { type Offered, startMcpServer } from '../../harness/mcp-servers/mcp-servers.ts';
import { anyTool, type Fixture } from '../../harness/mcp-servers/tools.ts';
import {
  dispatchOften,
  finishPage,
  listOpenOf,
  newPerson,
  openQuestion,
  type Person,
  serveOn,
} from '../../harness/protocols/pods.ts';
import { watchCommands } from '../../harness/redis/redis-monitor.ts';
import { startConfiguredPod } from '../../harness/turns/configured.ts';
import { newKeys } from '../../harness/vault/stores.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const EXTENSION = 'io.modelcontextprotocol/tasks';
const TASKS = { extensions: { [EXTENSION]: {} } };
const SHOWS_TASKS = { ...SHOWS_ALL, ...TASKS };
const LACKS_TASKS = {
  code: -32021,
  data: { requiredCapabilities: { extensions: { [EXTENSION]: {} } } },
};

/** Beside the tools that ask, `later`, which asks once it is ready, and some that fail with an error of the protocol. */
function createFixture(ready: Promise<void>): Fixture {
  const asking = createAskingFixture();
  const errors: Readonly<Record<string, ProtocolError>> = {
    breaks: new ProtocolError(-32_050, 'It broke.', { part: 'wheel' }),
    lacks: new ProtocolError(-32_021, 'Needs tasks.', {
      requiredCapabilities: { extensions: { [EXTENSION]: {} } },
    }),
  };
  const supports = ['forbidden', 'optional', 'required'];
  return {
    list: (cursor) => ({
      tools: [
        ...asking.list(cursor).tools,
        ...['hang', 'later', ...Object.keys(errors)].map((name) => anyTool(name)),
        ...supports.map((taskSupport) => anyTool(taskSupport, { execution: { taskSupport } })),
      ],
    }),
    async call(name, args, context) {
      const error = errors[name];
      if (error !== undefined) throw error;
      if (name === 'hang') return new Promise(() => undefined);
      if (name === 'later') return ready.then(() => asking.call('book', args, context));
      return supports.includes(name)
        ? { content: [{ type: 'text', text: `${name} was called` }] }
        : asking.call(name, args, context);
    },
  };
}

type Address = { readonly url: string };
type Client = ReturnType<typeof clientOf>;
type Reply = Readonly<Record<string, unknown>> & {
  readonly error?: unknown;
  readonly inputRequests?: Readonly<Record<string, unknown>> | undefined;
};

/** A client of a person, that asks any pod. */
function clientOf(person: Person, capabilities: object = SHOWS_TASKS) {
  async function ask({ url }: Address, method: string, params: Record<string, unknown>): Promise<Reply> {
    const { messages } = await modernExchange(url, person, modern(method, params, capabilities));
    const { result, error } = messages.at(-1) ?? {};
    return error === undefined ? { ...result } : { error };
  }
  const get = (pod: Address, taskId: unknown) => ask(pod, 'tasks/get', { taskId });
  return {
    ask,
    get,
    call: (pod: Address, name: string, args = {}) => ask(pod, 'tools/call', { name, arguments: args }),
    until: (pod: Address, taskId: unknown, status: string) =>
      waitUntil(
        async () => {
          const task = await get(pod, taskId);
          return task.status === status ? task : undefined;
        },
        { what: `the task to be ${status}` },
      ),
    async listen({ url }: Address, notifications: object) {
      const { body, headers } = modern('subscriptions/listen', { notifications }, capabilities);
      const heard = hear(await send(url, body, { ...person, headers }));
      const acknowledged = await waitUntil(async () => heard.messages[0], { what: 'the acknowledgement' });
      const told = (status: string) =>
        waitUntil(async () => heard.messages.find(({ params }) => params?.status === status), {
          what: `that the task is ${status}`,
        });
      return { ...heard, id: body.id, honored: acknowledged.params?.notifications, told };
    },
  };
}

// Without them no task is detached.
const rounds = createRoundSeals(newKeys());

await describeOnRedis('tasks of MCP', (stores, redisUrl) => {
  /** A server, and two pods that offer its tools by each of these rules, as `<name of the rules>__<tool>`. */
  async function open(offers: Readonly<Record<string, string>>, revision: Offered = 'stateless') {
    let release: () => void = () => undefined;
    const ready = new Promise<void>((resolve) => {
      release = resolve;
    });
    const server = await startMcpServer({ revision, fixture: createFixture(ready) });
    onTestFinished(server.kill);
    const names = Object.keys(offers);
    const yaml = `mcpServers:
${names.map((name) => `  ${name}: { title: Front Desk, transport: http, url: "${server.url}", credentialScope: none }`).join('\n')}
mcpOffer:
  agents: []
  tools: [${names.map((name) => `{ server: ${name}, ${offers[name]} }`).join(', ')}]
`;
    const open = async (on: 'backend' | 'second') => {
      const backend = stores[on];
      const of = `${on} of ${server.url}`;
      const pod = startConfiguredPod({
        yaml,
        backend,
        engine: engineOn(backend),
        pod: of,
        rounds,
        hasAnswerPage: true,
      });
      const timer = dispatchOften(dispatchOn(backend));
      const served = await serveOn(pod, { surfaceOf: mcpSurface() });
      onTestFinished(() => {
        clearInterval(timer);
        served.stop();
      });
      return { ...pod, ...served };
    };
    const [first, second] = [await open('backend'), await open('second')];
    return { first, second, server, release: () => release() };
  }

  it('a subscription tells each state of a task once, whole, on a pod that has nothing of it, to its owner alone', async () => {
    const { first, second } = await open({ desk: 'task: always' });
    const ada = newPerson();
    const client = clientOf(ada);
    const { taskId } = await client.call(first, 'desk__book');
    const heard = await client.listen(second, { taskIds: [taskId, 'sr_unknown', taskId] });
    expect(heard.honored).toEqual({ taskIds: [taskId] });
    const asked = await heard.told('input_required');
    const { resultType: _, _meta: _server, ...got } = await client.get(first, taskId);
    expect(asked.params).toEqual({
      ...got,
      lastUpdatedAt: expect.any(String),
      _meta: { 'io.modelcontextprotocol/subscriptionId': heard.id },
    });
    const { id } = await openQuestion(second.engine, ada, 'pending');
    expect(Object.keys(got.inputRequests as object)).toEqual([id]);
    await answerQuestion(first.engine, ada, id, 'accept', { city: 'Bern' });
    const done = await heard.told('completed');
    expect(done.params?.result).toEqual({
      resultType: 'complete',
      content: [{ type: 'text', text: expect.stringContaining('Bern') }],
    });
    const states = heard.messages.map(({ params }) => `${params?.status}: ${params?.statusMessage}`);
    expect(new Set(states).size).toBe(states.length);
    // One that comes later is told how it ended.
    const later = await (await client.listen(first, { taskIds: [taskId] })).told('completed');
    expect(later.params).toEqual({ ...done.params, _meta: expect.anything() });
  });

  it('is listened to by another Parley, whose server this one is, on another pod than made it', async () => {
    const { first, second } = await open({ desk: 'task: always' });
    const ada = newPerson();
    const tools = createMcpTools({ clientInfo: { name: 'parley', version: '0' } });
    onTestFinished(tools.close);
    const serverAt = ({ url }: Address) => {
      const headers = { authorization: `Bearer ${ada.token}` };
      const transport = { type: 'http', url: `${url}/run/v1/mcp`, headers } as const;
      return tools.open({ id: url, title: 'Parley', transport, revision: '2026-07-28' });
    };
    const made = await serverAt(first).call('desk__book', {});
    if (made.type !== 'task') throw new Error(`It became ${made.type}.`);
    const heard: string[] = [];
    const ending = new AbortController();
    const listener = { agreed: () => heard.push('agreed'), changed: () => heard.push('changed') };
    const other = serverAt(second);
    const listening = other.listenToTask(made.taskId, listener, ending.signal);
    const { id } = await openQuestion(second.engine, ada, 'pending');
    await waitUntil(() => heard.length > 1, { what: 'the first state' });
    expect(heard[0]).toBe('agreed');
    const before = heard.length;
    await answerQuestion(first.engine, ada, id, 'accept', { city: 'Bern' });
    await waitUntil(() => heard.length > before, { what: 'a change' });
    const state = () => other.askAboutTask(made.taskId, { method: 'tasks/get' });
    await waitUntil(async () => (await state()).type === 'result', { what: 'the end' });
    // One that this server does not have is left out, and the other ones are told of all the same.
    const ignored = { agreed: () => undefined, changed: () => undefined };
    expect(await other.listenToTask('sr_unknown', ignored, ending.signal)).toEqual({ type: 'absent' });
    ending.abort();
    expect(await listening).toEqual({ type: 'interrupted' });
  });

  it.each([
    // The filter, the capabilities, and the reply: the error, or what is honored.
    [{ taskIds: ['sr_x'] }, SHOWS_ALL, LACKS_TASKS],
    [{ taskIds: [] }, {}, LACKS_TASKS],
    [{ taskIds: [1] }, TASKS, { code: -32602 }],
    [{ taskIds: ['a', 'b', 'c', 'd'] }, TASKS, { code: -32602 }],
    [{ taskIds: ['a', 'b'], resourceSubscriptions: ['a:1', 'a:2'] }, TASKS, { code: -32602 }],
    [{ taskIds: ['sr_x'] }, TASKS, undefined],
  ])('a subscription with %j of a client with %j gets %j', async (notifications, capabilities, error) => {
    const { first } = await open({ desk: '' });
    const request = modern('subscriptions/listen', { notifications }, capabilities);
    const { messages } = await modernExchange(first.url, newPerson(), request);
    if (error !== undefined)
      expect(messages).toEqual([expect.objectContaining({ error: expect.objectContaining(error) })]);
    // Nothing of it is watched, so it ends.
    else
      expect(messages).toMatchObject([
        { params: { notifications: {} } },
        { result: { resultType: 'complete' } },
      ]);
  });

  it('when a call becomes a task, the offer says before the server', async () => {
    const { first } = await open(
      {
        // Longer than a busy machine takes for a call.
        plain: 'taskAfterMs: 50000',
        none: 'task: never',
        once: 'task: always',
        now: 'taskAfterMs: 0',
        must: 'task: required, taskAfterMs: 0',
        single:
          'perTool: { forbidden: { task: always }, optional: { taskAfterMs: 0 }, book: { task: never } }',
      },
      'old',
    );
    const result = (resultType: string) => ({ resultType });
    const [whole, task, asks] = ['complete', 'task', 'input_required'].map(result);
    const cases = [
      ['plain__optional', SHOWS_TASKS, whole],
      // The round asks; a client that shows nothing has nothing to wait for.
      ['plain__book', SHOWS_TASKS, asks],
      ['plain__book', TASKS, task],
      ['plain__required', SHOWS_TASKS, whole],
      ['plain__required', SHOWS_ALL, { error: LACKS_TASKS }],
      ['must__optional', SHOWS_TASKS, task],
      ['must__optional', {}, { error: LACKS_TASKS }],
      ['now__optional', SHOWS_TASKS, task],
      ['now__optional', SHOWS_ALL, whole],
      ['now__forbidden', SHOWS_TASKS, whole],
      ['single__forbidden', SHOWS_TASKS, task],
      ['single__optional', SHOWS_TASKS, task],
      ['single__book', SHOWS_TASKS, asks],
      ['none__required', SHOWS_ALL, whole],
      // What its server refuses keeps its code and data.
      ['none__breaks', SHOWS_TASKS, { error: { code: -32_050, data: { part: 'wheel' } } }],
      ['plain__lacks', SHOWS_ALL, { error: LACKS_TASKS }],
      ['once__breaks', SHOWS_TASKS, task],
    ] as const;
    const replies = cases.map(async ([tool, capabilities]) => {
      const { resultType, error } = await clientOf(newPerson(), capabilities).call(first, tool);
      return [tool, capabilities, error === undefined ? { resultType } : { error }];
    });
    expect(await Promise.all(replies)).toMatchObject(cases);

    const session = await beginSession(first.url, newPerson());
    const called = async (name: string) => {
      const params = { name, arguments: {} };
      const message = { jsonrpc: '2.0', id: name, method: 'tools/call', params };
      return (await session.exchange(first.url, message)).messages.at(-1);
    };
    expect(await called('must__optional')).toMatchObject({ error: { code: -32602 } });
    // It is no question that cannot be asked.
    expect(await called('plain__lacks')).toMatchObject({
      result: { isError: true, content: [{ text: expect.stringContaining('Needs tasks.') }] },
    });
    expect(await called('once__optional')).toMatchObject({
      result: { content: [{ text: 'optional was called' }] },
    });
  });

  it('a question is a round while the call is none, and a key of its task once the call has become one by time', async () => {
    const { first, second, release } = await open({ desk: 'taskAfterMs: 50000', soon: 'taskAfterMs: 200' });
    const ada = newPerson();
    const client = clientOf(ada);
    const early = await client.call(first, 'desk__book');
    expect(early).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) });
    const { id: asked } = await openQuestion(first.engine, ada, 'pending');
    expect(Object.keys(early.inputRequests ?? {})).toEqual([asked]);
    await client.ask(second, 'tools/call', {
      name: 'desk__book',
      arguments: {},
      requestState: early.requestState,
      inputResponses: { [asked]: { action: 'accept', content: { city: 'Bern' } } },
    });
    const { taskId } = await client.call(first, 'soon__later');
    expect(await client.get(second, taskId)).toMatchObject({ status: 'working' });
    release();
    const { inputRequests = {} } = await client.until(second, taskId, 'input_required');
    const { id } = await openQuestion(first.engine, ada, 'pending');
    expect(Object.keys(inputRequests)).toEqual([id]);
    const inputResponses = { [id]: { action: 'accept', content: { city: 'Rome' } } };
    await client.ask(first, 'tasks/update', { taskId, inputResponses });
    const { result } = await client.until(second, taskId, 'completed');
    expect(JSON.stringify(result)).toContain('Rome');
  });

  it.each([
    ['breaks', { code: -32_050, message: 'It broke.', data: { part: 'wheel' } }],
    ['lacks', LACKS_TASKS],
  ])('a task whose server refuses it has failed with that error: %s', async (tool, error) => {
    const { first, second } = await open({ desk: 'task: always' });
    const client = clientOf(newPerson());
    const { taskId } = await client.call(first, `desk__${tool}`);
    expect(await client.until(second, taskId, 'failed')).toMatchObject({
      error,
      statusMessage: expect.stringMatching(/./),
    });
  });

  it('a call that was told a page and became a task is another one seconds after its result was fetched', async () => {
    const { first, second } = await open({ desk: '' });
    const ada = newPerson();
    const [told, client] = [clientOf(ada, {}), clientOf(ada, TASKS)];
    expect(JSON.stringify(await told.call(first, 'desk__book'))).toContain(ANSWER_PAGE_URL);
    const [{ taskId, statusMessage }, again] = await Promise.all([
      client.call(second, 'desk__book'),
      client.call(first, 'desk__book'),
    ]);
    expect(again.taskId).toBe(taskId);
    const { id } = await openQuestion(second.engine, ada, 'pending');
    expect(statusMessage).toContain(`${ANSWER_PAGE_URL}${id} `);
    await answerQuestion(first.engine, ada, id, 'accept', { city: 'Bern' });
    const { result } = await client.until(first, taskId, 'completed');
    expect(await told.call(second, 'desk__book')).toMatchObject(result as object);
    recordsClock.aheadMs = 11_000;
    onTestFinished(() => {
      recordsClock.aheadMs = 0;
    });
    expect((await client.call(second, 'desk__book')).taskId).not.toBe(taskId);
  });

  it('a pod that drains gives its waiting calls as tasks, and they go on elsewhere', async () => {
    const { first, second, server } = await open({ desk: 'taskAfterMs: 50000' });
    const client = clientOf(newPerson());
    const called = client.call(first, 'desk__hang');
    await waitUntil(async () => server.seen.some(({ tool }) => tool === 'hang'), { what: 'the call' });
    first.drain();
    const { taskId } = await called;
    expect(await client.get(second, taskId)).toMatchObject({ status: 'working' });
    expect(await client.ask(second, 'tasks/cancel', { taskId })).toMatchObject({ resultType: 'complete' });
    await client.until(second, taskId, 'cancelled');
    expect(await client.ask(second, 'tasks/cancel', { taskId })).toMatchObject({ resultType: 'complete' });
  });

  it('polling a task that waits is one read each time, of all that is known of it', async () => {
    const { first, second } = await open({ desk: 'task: always' });
    const ada = newPerson();
    const client = clientOf(ada);
    const { taskId } = await client.call(first, 'desk__both');
    const stream = { ...ada, streamRequestId: String(taskId) };
    await waitUntil(async () => (await first.turns.readRun(stream))?.owner === DETACHED, {
      what: 'the task to wait',
    });
    const asked = Object.keys((await client.get(second, taskId)).inputRequests ?? {});
    expect(asked).toHaveLength(2);
    const own = [encodeURIComponent(ada.userId), ...asked];
    const names: string[] = [];
    const last = 'sr_last';
    let isLast = false;
    const stop = await watchCommands(redisUrl, ([name = '', ...args], isOfScript) => {
      const about = args.join(' ');
      if (!isOfScript && own.some((one) => about.includes(one))) names.push(name);
      isLast ||= about.includes(last);
    });
    onTestFinished(stop);
    const pods = Array.from({ length: 10 }, (_, at) => (at % 2 === 0 ? first : second));
    const expected = ['evalsha', ...pods.map(() => 'evalsha')];
    // In between, the pods do what follows the detaching of a run.
    await waitUntil(
      async () => {
        names.splice(0);
        isLast = false;
        for (const pod of pods) await client.get(pod, taskId);
        await client.get(first, last);
        await waitUntil(async () => isLast, { what: 'the last command' });
        expect(names).toEqual(expected);
        return true;
      },
      { what: 'polls that read once each' },
    );
  });

  it('a task of a person who was erased is unknown', async () => {
    const { first, second } = await open({ desk: 'task: always' });
    const ada = newPerson();
    const client = clientOf(ada);
    const { taskId } = await client.call(first, 'desk__book');
    const heard = await client.listen(second, { taskIds: [taskId] });
    await heard.told('input_required');
    const { backend, engine } = first;
    const erase = wireEraseUser({
      backend,
      engine,
      log: createLog({ service: 'test', level: 'silent', pod: 'test' }, { write: () => undefined }),
      deliveries: dispatchOn(backend),
      deliveryKinds: [],
      disconnectAll: undefined,
      unlink: undefined,
    });
    await erase(ada, { kind: 'service', tenant: ada.tenant });
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
      expect(await client.ask(second, method, { taskId, inputResponses: {} })).toMatchObject({
        error: { code: -32602 },
      });
    expect((await client.call(second, 'desk__book')).taskId).not.toBe(taskId);
  });
});

it('a task of an agent asks all at once, each client what it can show, drops what was answered elsewhere, and goes on after the last answer', async () => {
  const site = await openMcpSite();
  onTestFinished(site.stop);
  const [first, second] = site.pods;
  const person = newPerson();
  const [all, forms, none] = [SHOWS_TASKS, { elicitation: { form: {} }, ...TASKS }, TASKS].map((shows) =>
    clientOf(person, shows),
  ) as [Client, Client, Client];
  const { taskId } = await all.call(first, 'helper', { message: 'text page: both' });
  const keysFor = async (client: Client, pod: Address) =>
    Object.entries((await client.get(pod, taskId)).inputRequests ?? {}).map(([key, request]) => {
      const { params } = request as { readonly params: { readonly mode: string } };
      return [params.mode, key] as const;
    });
  const both = await waitUntil(
    async () => {
      const keys = await keysFor(all, second);
      return keys.length === 2 ? keys : undefined;
    },
    { what: 'both questions' },
  );
  const { form, url } = Object.fromEntries(both);
  expect(await keysFor(forms, second)).toEqual([['form', form]]);
  const told = await none.get(first, taskId);
  expect(told).toMatchObject({ status: 'working', statusMessage: expect.stringContaining('Which colour?') });
  expect(told).not.toHaveProperty('inputRequests');
  // As long as something can be answered, and for the retention, which is a minute here.
  const keptUntil = ({ createdAt, ttlMs }: Reply) => Date.parse(String(createdAt)) + Number(ttlMs) - 60_000;
  const open = await listOpenOf(first.engine, person);
  expect(keptUntil(told)).toBe(Math.max(...open.map(({ expiresAt }) => expiresAt)));

  const update = (pod: Address, inputResponses: object) =>
    all.ask(pod, 'tasks/update', { taskId, inputResponses });
  const unknown = { el_unknown: { action: 'accept' }, other: 1 };
  const green = { action: 'accept', content: { answer: 'green' } };
  expect(await update(first, unknown)).toMatchObject({ resultType: 'complete' });
  expect(await keysFor(all, second)).toHaveLength(2);
  await answerQuestion(first.engine, person, form as string, 'accept', green.content);
  expect(await keysFor(all, second)).toEqual([['url', url]]);
  // Nor does it matter how a late answer looks.
  const late = { action: 'accept', content: { answer: 7 } };
  expect(
    await update(second, { [url as string]: { action: 'accept' }, [form as string]: late }),
  ).toMatchObject({
    resultType: 'complete',
  });
  // Its person is on the page, and the client has nothing more to do.
  expect(await all.get(first, taskId)).toMatchObject({ status: 'working' });
  await finishPage(second.engine, person, url as string);
  const done = await all.until(second, taskId, 'completed');
  expect(JSON.stringify(done.result)).toMatch(/Heard: .*green/);
  expect(keptUntil(done)).toBe(Date.parse(String(done.lastUpdatedAt)));
});
