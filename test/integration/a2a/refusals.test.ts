import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { verifyAgentCardSignature } from '@a2a-js/sdk';
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client';
import { ELICITATION_EXTENSION } from '@parley/shared/domain/a2a/extension';
import { HOPS_KEY } from '@parley/shared/domain/a2a/hops';
import { ParleyError } from '@parley/shared/domain/errors';
import { a2aSigningKeyOf } from '@parley/shared/runtime/a2a/env';
import type { Env } from '@parley/shared/runtime/env';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { asTask, say } from '../../harness/a2a/messages.ts';
import {
  type A2aSite,
  BODY_BYTES_MAX,
  fetchAny,
  newPerson,
  openA2aSite,
  openClient,
  type Person,
} from '../../harness/a2a/setup.ts';
import { listenOnFreePort } from '../../harness/free-port.ts';

interface QuestionPart {
  readonly elicitationId: string;
  readonly mode: string;
  readonly requestedSchema?: object;
}

interface SentStatus {
  readonly state: string;
  readonly message?: { readonly parts: readonly { readonly data?: QuestionPart }[] };
}

interface SentTask {
  readonly id: string;
  readonly status: SentStatus;
  readonly artifacts?: readonly unknown[];
}

/** What the cases read of the results of all methods; each method has a part of it. */
interface Result extends SentTask {
  readonly task: SentTask;
  readonly tasks: readonly SentTask[];
  readonly totalSize: number;
  readonly configs: readonly { readonly id: string }[];
}

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly error?: { code: number; message: string; data?: unknown };
    readonly result: Result;
  };
}

/** The body of a push. */
interface Push {
  readonly task?: SentTask;
  readonly statusUpdate?: { readonly status: SentStatus };
}

function questionOf({ message: asking }: SentStatus): QuestionPart {
  const question = asking?.parts.find(({ data }) => data !== undefined)?.data;
  if (question === undefined) throw new Error('The status asks nothing.');
  return question;
}

let site: A2aSite;
beforeAll(async () => {
  site = await openA2aSite();
});
afterAll(() => site?.stop());

async function call(
  path: string,
  {
    token,
    user,
    headers = {},
    ...init
  }: RequestInit & { token?: string; user?: string; headers?: Record<string, string> } = {},
): Promise<Reply> {
  const url = `http://any${path}`;
  const reply = await fetchAny(
    site,
    token,
    user,
  )(url, {
    ...init,
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
  });
  return { status: reply.status, headers: reply.headers, body: JSON.parse((await reply.text()) || '{}') };
}

function rpc(
  caller: { token?: string; user?: string; headers?: Record<string, string> },
  method: string,
  params: object,
  agent = 'helper',
): Promise<Reply> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params });
  return call(`/run/a2a/${agent}`, { ...caller, method: 'POST', body });
}

const message = (text: string, more: object = {}) => ({
  message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more },
});

async function asked(person: Person, agent = 'helper', more: { user?: string } = {}): Promise<SentTask> {
  return (await rpc({ token: person.token, ...more }, 'SendMessage', message('text'), agent)).body.result
    .task;
}

const NOT_FOUND = -32001;
const UNSUPPORTED = -32004;
const INVALID_PARAMS = -32602;

describe('a call that is refused', () => {
  it('needs a valid token, and says where it fails by 401 and a challenge [A2A-40]', async () => {
    for (const token of [undefined, 'nonsense']) {
      const reply = await rpc(token === undefined ? {} : { token }, 'GetTask', { id: 'x' });
      expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      expect((await call('/run/a2a/helper/tasks/x', token === undefined ? {} : { token })).status).toBe(401);
    }
  });

  it('knows no task of another user, of another agent or of nobody, and tells them not apart [A2A-07 A2A-08 A2A-32]', async () => {
    const [owner, other] = [newPerson(), newPerson()];
    const task = await asked(owner);
    const replies = [
      await rpc({ token: other.token }, 'GetTask', { id: task.id }),
      await rpc({ token: `${owner.tenant}/somebody-else` }, 'CancelTask', { id: task.id }),
      await rpc({ token: owner.token }, 'GetTask', { id: task.id }, 'speaker'),
      await rpc({ token: owner.token }, 'GetTask', { id: 'sr_nobody' }),
      await rpc({ token: owner.token }, 'GetTask', { id: '../secret' }),
      await rpc({ token: other.token }, 'SendMessage', message('green', { taskId: task.id })),
      await rpc({ token: other.token }, 'SubscribeToTask', { id: task.id }),
      await rpc({ token: other.token }, 'ListTaskPushNotificationConfigs', { taskId: task.id }),
    ];
    for (const { body } of replies)
      expect(body.error).toEqual({ ...replies[0]?.body.error, code: NOT_FOUND });
    const rest = await call(`/run/a2a/helper/tasks/${task.id}`, { token: other.token });
    expect([rest.status, JSON.stringify(rest.body)]).toEqual([404, expect.not.stringContaining('colour')]);
  });

  it('knows no context of another user: a message that names it begins a context of the caller', async () => {
    const [owner, other] = [newPerson(), newPerson()];
    const contextId = `ctx-${randomUUID()}`;
    await rpc(owner, 'SendMessage', message('the secret of the owner', { contextId }));
    const told = await rpc(owner, 'SendMessage', message('before', { contextId }));
    expect(JSON.stringify(told.body)).toContain('the secret of the owner');
    const { body } = await rpc(other, 'SendMessage', message('before', { contextId }));
    expect(body.result.task.artifacts).toMatchObject([{ parts: [{ text: 'Before: []' }] }]);
    const { tasks } = (await rpc(other, 'ListTasks', { contextId })).body.result;
    expect(tasks.map(({ id }) => id)).toEqual([body.result.task.id]);
  });

  it('refuses a context that is not the task’s, or none that can be, and a late answer [A2A-10 A2A-12]', async () => {
    const person = newPerson();
    const task = await asked(person);
    const wrong = await rpc(person, 'SendMessage', message('green', { taskId: task.id, contextId: 'other' }));
    expect(wrong.body.error?.code).toBe(INVALID_PARAMS);
    expect((await rpc(person, 'SendMessage', message('hi', { contextId: 'a b' }))).body.error?.code).toBe(
      INVALID_PARAMS,
    );
    await rpc(person, 'SendMessage', message('green', { taskId: task.id }));
    const late = await rpc(person, 'SendMessage', message('blue', { taskId: task.id }));
    expect(late.body.error?.code).toBe(UNSUPPORTED);
  });

  it('refuses versions that it does not speak, also where HTTP+JSON names none [A2A-33]', async () => {
    const { token } = newPerson();
    const newer = await rpc({ token, headers: { 'a2a-version': '9.0' } }, 'GetTask', { id: 'x' });
    expect(newer.body.error?.code).toBe(-32009);
    const rest = await call('/run/a2a/helper/tasks', { token, headers: { 'a2a-version': '' } });
    expect(rest.status).toBe(400);
  });

  it('ignores extensions that it does not know, and confirms the one that it does', async () => {
    const { token } = newPerson();
    const extensions = `https://example.com/other, ${ELICITATION_EXTENSION}`;
    const reply = await rpc(
      { token, headers: { 'a2a-extensions': extensions } },
      'SendMessage',
      message('hi'),
    );
    expect(reply.headers.get('a2a-extensions')).toBe(ELICITATION_EXTENSION);
  });

  it('refuses parts that are too large, of other kinds, and answers that are none', async () => {
    const { token } = newPerson();
    const large = await rpc({ token }, 'SendMessage', message('x'.repeat(BODY_BYTES_MAX)));
    expect([large.status, large.body.error?.code]).toEqual([413, -32600]);
    const body = JSON.stringify(message('x'.repeat(BODY_BYTES_MAX)));
    const rest = await call('/run/a2a/helper/message:send', { token, method: 'POST', body });
    expect([rest.status, rest.body.error]).toMatchObject([413, { status: 'INVALID_ARGUMENT' }]);
    const file = message('', { parts: [{ url: 'https://example.com/file', mediaType: 'image/png' }] });
    expect((await rpc({ token }, 'SendMessage', file)).body.error?.code).toBe(-32005);
    const person = newPerson();
    const task = await asked(person);
    const data = {
      type: 'elicitation-response',
      elicitationId: 'el_0000000000000000000000',
      action: 'accept',
    };
    const foreign = message('', { taskId: task.id, parts: [{ data }] });
    expect((await rpc(person, 'SendMessage', foreign)).body.error?.code).toBe(NOT_FOUND);
    const { elicitationId } = questionOf(task.status);
    const answer = { ...data, elicitationId, content: { answer: 7 } };
    const wrong = await rpc(
      person,
      'SendMessage',
      message('', { taskId: task.id, parts: [{ data: answer }] }),
    );
    expect([wrong.body.error?.code, wrong.body.error?.message]).toEqual([
      INVALID_PARAMS,
      expect.stringMatching(/answer/),
    ]);
    const open = await rpc(person, 'GetTask', { id: task.id });
    expect(open.body.result.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  });
});

it('a list reads the feeds of its page only, and leaves artifacts out unless they are asked for', async () => {
  const person = newPerson();
  for (const text of ['one', 'two', 'three']) await rpc(person, 'SendMessage', message(text));
  const reads = site.pods.map(({ engine }) => vi.spyOn(engine, 'replayItems'));
  const page = await rpc(person, 'ListTasks', { pageSize: 1 });
  const whole = await rpc(person, 'ListTasks', { pageSize: 1, includeArtifacts: true });
  const count = reads.reduce((sum, read) => sum + read.mock.calls.length, 0);
  for (const read of reads) read.mockRestore();
  expect([page.body.result.totalSize, count]).toEqual([3, 2]);
  expect(page.body.result.tasks).toMatchObject([{ history: [{ parts: [{ text: 'three' }] }] }]);
  expect(page.body.result.tasks[0]?.artifacts ?? []).toEqual([]);
  expect(whole.body.result.tasks).toMatchObject([{ artifacts: [{ parts: [{ text: 'Hello: three' }] }] }]);
  const done = await rpc(person, 'ListTasks', { status: 'TASK_STATE_COMPLETED' });
  expect(done.body.result.totalSize).toBe(3);
});

it('a plain answer that is sent again answers the same question, not the next one', async () => {
  const person = newPerson();
  const { task } = (await rpc(person, 'SendMessage', message('twice'))).body.result;
  const reply = message('green', { taskId: task.id, messageId: 'no reference id' });
  const lost = site.pods.map(({ engine }) => {
    const answer = engine.answer;
    return vi.spyOn(engine, 'answer').mockImplementation(async (input) => {
      await answer(input);
      throw new ParleyError('unavailable', 'The reply was lost.');
    });
  });
  expect((await rpc(person, 'SendMessage', reply)).status).toBe(503);
  for (const spy of lost) spy.mockRestore();
  const read = async () => (await rpc(person, 'GetTask', { id: task.id })).body.result.status;
  const textOf = ({ message: asking }: SentStatus) => JSON.stringify(asking?.parts ?? []);
  await expect.poll(async () => textOf(await read())).toContain('Which colour?');
  const again = (await rpc(person, 'SendMessage', reply)).body.result.task;
  expect([again.status.state, textOf(again.status)]).toEqual([
    'TASK_STATE_INPUT_REQUIRED',
    expect.stringContaining('Which colour?'),
  ]);
  const other = message('blue', { taskId: task.id, messageId: 'no reference id' });
  expect((await rpc(person, 'SendMessage', other)).body.error?.code).toBe(INVALID_PARAMS);
  expect((await read()).state).toBe('TASK_STATE_INPUT_REQUIRED');
});

describe('a call that waits for its task', () => {
  let bounded: A2aSite;
  beforeAll(async () => {
    bounded = await openA2aSite({ settings: { waitMs: 300 }, budgets: { userStreams: 1 } });
  });
  afterAll(() => bounded?.stop());

  it('replies with the task as it is after a while, and takes a place of the streams of its person', async () => {
    const person = newPerson();
    const send = async (text: string) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: message(text) });
      const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
      const reply = await fetchAny(bounded, person.token)('http://any/run/a2a/helper', {
        method: 'POST',
        body,
        headers,
      });
      return { status: reply.status, body: (await reply.json()) as Reply['body'] };
    };
    const replies = await Promise.all([send('slow'), send('slow')]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 429]);
    const [served] = replies.filter(({ status }) => status === 200);
    expect(served?.body.result.task.status.state).toBe('TASK_STATE_WORKING');
  });
});

describe('a service key that speaks for a person', () => {
  const caller = (person: Person) => ({ token: `key/${person.tenant}`, user: person.userId });

  it('names the person, and answers only where the agent allows it; the record says who did', async () => {
    const person = newPerson();
    expect((await rpc({ token: `key/${person.tenant}` }, 'SendMessage', message('hi'))).status).toBe(403);
    const { body } = await rpc(caller(person), 'SendMessage', message('text'), 'speaker');
    const done = await rpc(
      caller(person),
      'SendMessage',
      message('green', { taskId: body.result.task.id }),
      'speaker',
    );
    expect(done.body.result.task.status.state).toBe('TASK_STATE_COMPLETED');
    const { rows } = (await site.pods[0]?.engine.list({
      owner: { tenant: person.tenant, userId: person.userId },
      statuses: ['accepted'],
      limit: 5,
    })) ?? { rows: [] };
    expect(rows.map(({ settlement }) => settlement?.surface)).toEqual(['a2a-caller']);
  });

  it('is given the page of the person for a form that only they may answer, and cannot answer it [A2A-20 A2A-29]', async () => {
    const person = newPerson();
    const { body } = await rpc(caller(person), 'SendMessage', message('text'));
    const { task } = body.result;
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const question = questionOf(task.status);
    expect([question.mode, question.requestedSchema]).toEqual(['url', undefined]);
    const answer = await rpc(caller(person), 'SendMessage', message('green', { taskId: task.id }));
    expect(answer.status).toBe(403);
    expect((await rpc(person, 'GetTask', { id: task.id })).body.result.status.state).toBe(
      'TASK_STATE_INPUT_REQUIRED',
    );
  });
});

/** A receiver of pushes, which replies 204. */
async function openReceiver() {
  const received: { headers: IncomingHttpHeaders; text: string }[] = [];
  const server = createServer(async (req, res) => {
    let text = '';
    for await (const chunk of req) text += chunk;
    received.push({ headers: req.headers, text });
    res.writeHead(204).end();
  });
  onTestFinished(() => void server.close());
  return { received, url: `http://127.0.0.1:${await listenOnFreePort(server)}/push` };
}

describe('push notifications', () => {
  it('have the bodies of 0.3 for a client of 0.3, in the order of the states', async () => {
    const person = newPerson();
    const { received, url } = await openReceiver();
    const client = await openClient(site, { binding: 'JSONRPC 0.3', token: person.token });
    const task = await asTask(client.sendMessage(say('text')));
    await client.createTaskPushNotificationConfig({
      tenant: '',
      taskId: task.id,
      id: 'legacy',
      url,
      token: 'task-token',
      authentication: { scheme: 'Bearer', credentials: 'secret' },
    });
    await client.sendMessage(say('green', { taskId: task.id }));
    const bodies = () => received.map(({ text }) => JSON.parse(text));
    const states = () => bodies().flatMap(({ status }) => status?.state ?? []);
    await expect.poll(states, { timeout: 20_000 }).toContain('completed');
    expect([...new Set(states())]).toEqual(['submitted', 'working', 'input-required', 'completed']);
    expect(bodies()[0]).toMatchObject({ kind: 'task', id: task.id, contextId: task.contextId });
    for (const body of bodies().slice(1))
      expect(body).toMatchObject({
        kind: expect.stringMatching(/^(?:status|artifact)-update$/),
        taskId: task.id,
      });
    const asking = bodies().find(({ status }) => status?.state === 'input-required');
    expect(asking.status.message).toMatchObject({
      kind: 'message',
      parts: [
        { kind: 'text', text: 'Which colour?' },
        { kind: 'data', data: { type: 'elicitation' } },
      ],
    });
    expect(received[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-a2a-notification-token': 'task-token',
      authorization: 'Bearer secret',
    });
  });

  it('deliver the states that every reader sees, in order, with the credentials, and again after a failure [A2A-34]', async () => {
    const person = newPerson();
    const received: { headers: IncomingHttpHeaders; body: Push }[] = [];
    let refusals = 1;
    const receiver = createServer(async (req, res) => {
      let text = '';
      for await (const chunk of req) text += chunk;
      if (refusals > 0) {
        refusals -= 1;
        res.writeHead(500).end();
        return;
      }
      received.push({ headers: req.headers, body: JSON.parse(text) });
      res.writeHead(204).end();
    });
    const url = `http://127.0.0.1:${await listenOnFreePort(receiver)}/push`;
    try {
      const authentication = { scheme: 'Bearer', credentials: 'a-secret-of-the-receiver' };
      const config = { url, token: 'task-token', authentication };
      const sent = { ...message('text'), configuration: { taskPushNotificationConfig: config } };
      const { body } = await rpc(person, 'SendMessage', sent);
      const { id } = body.result.task;
      await rpc(person, 'SendMessage', message('green', { taskId: id }));
      const states = () =>
        received.flatMap(
          ({ body: one }) => (one.task ?? one.statusUpdate)?.status.state.slice('TASK_STATE_'.length) ?? [],
        );
      await expect.poll(states, { timeout: 20_000 }).toContain('COMPLETED');
      expect(states()).toEqual(['SUBMITTED', 'WORKING', 'INPUT_REQUIRED', 'WORKING', 'COMPLETED']);
      expect(received[0]?.headers).toMatchObject({
        authorization: 'Bearer a-secret-of-the-receiver',
        'x-a2a-notification-token': 'task-token',
      });
      const configs = await rpc(person, 'ListTaskPushNotificationConfigs', { taskId: id });
      expect(configs.body.result.configs).toMatchObject([{ url, taskId: id }]);
      expect(JSON.stringify(configs.body)).not.toMatch(/a-secret-of-the-receiver|task-token/);
      const configId = configs.body.result.configs[0]?.id;
      const gone = { method: 'DELETE', token: person.token };
      expect(
        (await call(`/run/a2a/helper/tasks/${id}/pushNotificationConfigs/${configId}`, gone)).status,
      ).toBe(204);
    } finally {
      receiver.close();
    }
  });

  it('keep one configuration for each id, that of the task by default, and are refused before a message has an effect', async () => {
    const person = newPerson();
    const task = await asked(person);
    const { received, url } = await openReceiver();
    const put = (more: object = {}) =>
      rpc(person, 'CreateTaskPushNotificationConfig', { taskId: task.id, url, ...more });
    await put();
    await expect.poll(() => JSON.stringify(received)).toContain('INPUT_REQUIRED');
    const known = received.length;
    expect((await put({ token: 'another' })).body.result.id).toBe(task.id);
    for (const id of ['a', 'b', 'c', 'd']) await put({ id });
    expect((await put({ id: 'e' })).body.error?.code).toBe(INVALID_PARAMS);
    // The four new ones get what there is; the one that was replaced has it.
    await expect.poll(() => received.length).toBe(known * 5);
    expect(received.filter(({ headers }) => headers['x-a2a-notification-token'] === 'another')).toEqual([]);
    const sendWith = (config: object, more: object = {}) =>
      rpc(person, 'SendMessage', {
        ...message('green', more),
        configuration: { taskPushNotificationConfig: config },
      });
    for (const config of [{ url: 'https://10.0.0.1/x' }, { url, id: 'e' }])
      expect((await sendWith(config, { taskId: task.id })).body.error?.code).toBe(INVALID_PARAMS);
    expect((await sendWith({ url: 'https://10.0.0.1/x' })).body.error?.code).toBe(INVALID_PARAMS);
    const { tasks } = (await rpc(person, 'ListTasks', {})).body.result;
    expect(tasks.map(({ status }) => status.state)).toEqual(['TASK_STATE_INPUT_REQUIRED']);
  });

  it('are never sent to private addresses [A2A-34]', async () => {
    const person = newPerson();
    const { id } = await asked(person);
    for (const url of [
      'https://10.0.0.1/x',
      'https://169.254.169.254/latest',
      'http://example.com/',
      'file:///etc/passwd',
      'https://user:pw@example.com/',
    ]) {
      const reply = await rpc(person, 'CreateTaskPushNotificationConfig', { taskId: id, url });
      expect(reply.body.error?.code, url).toBe(INVALID_PARAMS);
    }
  });
});

it('the card names what it offers, for each version; nobody needs a token for it', async () => {
  const card = await call('/.well-known/agent-card.json');
  expect(card.body).toMatchObject({
    name: 'Helper',
    capabilities: { extensions: [{ uri: ELICITATION_EXTENSION }] },
  });
  const legacy = await call('/run/a2a/speaker/.well-known/agent-card.json', {
    headers: { 'a2a-version': '' },
  });
  expect(legacy.body).toMatchObject({ name: 'Speaker', preferredTransport: 'JSONRPC' });
  const etag = card.headers.get('etag') ?? '';
  expect((await call('/.well-known/agent-card.json', { headers: { 'if-none-match': etag } })).status).toBe(
    304,
  );
  expect((await call('/run/a2a/nobody/.well-known/agent-card.json')).status).toBe(404);
});

describe('a card that is signed', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const configured = a2aSigningKeyOf({ PARLEY_A2A_SIGNING_KEY: pem.replaceAll('\n', '\\n') } as Env);
  let signed: A2aSite;
  beforeAll(async () => {
    if (configured === undefined) throw new Error('The key was not read.');
    signed = await openA2aSite({ settings: { signer: { privateKey: configured } } });
  });
  afterAll(() => signed?.stop());

  const card = (agent: string) => {
    const [pod] = signed.pods;
    const resolver = new DefaultAgentCardResolver({ fetchImpl: fetchAny(signed) });
    return resolver.resolve(`${pod?.url}/run/a2a/${agent}/`);
  };
  /** The stock verification, with the keys that the signature names, each from a random pod. */
  const verify = verifyAgentCardSignature(async (kid, jku = '') => {
    const { origin } = new URL(jku);
    if (origin !== 'https://parley.example') throw new Error('not the keys of Parley');
    const { keys } = (await (await fetchAny(signed)(jku)).json()) as { keys: { kid: string }[] };
    return keys.find((key) => key.kid === kid) as never;
  });

  it.each(['helper', 'speaker'])('is verified by the stock client: %s', async (agent) => {
    await verify(await card(agent));
  });

  it('is refused once its address, or a capability, was changed', async () => {
    vi.spyOn(console, 'debug').mockImplementation(() => undefined);
    onTestFinished(() => void vi.restoreAllMocks());
    const good = await card('helper');
    const [first, ...others] = good.supportedInterfaces;
    const elsewhere = [{ ...first, url: 'https://evil.example/' } as never, ...others];
    await expect(verify({ ...good, supportedInterfaces: elsewhere })).rejects.toThrow();
    await expect(verify({ ...good, name: 'Other' })).rejects.toThrow();
    await expect(verify({ ...good, signatures: [] })).rejects.toThrow();
  });
});

describe('a task that deployments have delegated to each other', () => {
  const begin = (hops: unknown) =>
    rpc({ token: newPerson().token }, 'SendMessage', message('hello', { metadata: { [HOPS_KEY]: hops } }));

  it('is refused beyond the configured number of deployments', async () => {
    const { body } = await begin(6);
    expect(body.error).toMatchObject({ message: expect.stringContaining('more deployments') });
    expect(body.result).toBeUndefined();
  });

  it.each([5, 0, -1, 2.5, 'six', null])('begins with %s', async (hops) => {
    const { body } = await begin(hops);
    expect(body.result.task.status.state).toBe('TASK_STATE_COMPLETED');
  });
});
