import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client';
import { ParleyError } from '@parley/core/domain/errors';
import { ELICITATION_EXTENSION } from '@parley/shared/domain/a2a/extension';
import { HOPS_KEY } from '@parley/shared/domain/a2a/hops';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { CallLimitSettings } from '../../../services/api/src/http/limits/call-limits.ts';
import type { A2aDeps } from '../../../services/api/src/surfaces/a2a/deps.ts';
import { tasksOf } from '../../harness/a2a/messages.ts';
import { type A2aSite, a2aSurface, fetchAny, openA2aSite, openClient } from '../../harness/a2a/setup.ts';
import { listenOnFreePort } from '../../harness/free-port.ts';
import { paced } from '../../harness/pace.ts';
import { newPerson, type Person, serveOn } from '../../harness/protocols/pods.ts';
import { BODY_BYTES_MAX } from '../../harness/protocols/served.ts';
import { waitUntil } from '../../harness/wait-until.ts';

interface QuestionPart {
  readonly elicitationId: string;
  readonly mode: string;
  readonly requestedSchema?: object;
}

interface SentStatus {
  readonly state: string;
  readonly timestamp: string;
  readonly message?: { readonly parts: readonly { readonly data?: QuestionPart }[] };
}

interface SentTask {
  readonly id: string;
  readonly history?: readonly { readonly messageId: string; readonly role: string }[];
  readonly status: SentStatus;
  readonly artifacts?: readonly unknown[];
}

/** What the cases read of the results of all methods; each method has a part of it. */
interface Result extends SentTask {
  readonly task: SentTask;
  readonly tasks: readonly SentTask[];
  readonly totalSize: number;
  readonly nextPageToken: string;
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

/** The parts of a message that declines one of the questions of a task. */
function declining({ status }: SentTask, index: number) {
  const questions = status.message?.parts.flatMap(({ data }) => data ?? []) ?? [];
  const { elicitationId } = questions[index] ?? {};
  return { parts: [{ data: { type: 'elicitation-response', elicitationId, action: 'decline' } }] };
}

let site: A2aSite;
beforeAll(async () => {
  site = await openA2aSite();
});
afterAll(() => site?.stop());

/** One of the pods with other settings of its surface. */
async function openOther(settings: Partial<A2aDeps>, budgets: Partial<CallLimitSettings> = {}) {
  const served = await serveOn(site.pods[0], { surfaceOf: a2aSurface(settings), budgets });
  onTestFinished(served.stop);
  return { pods: [served] };
}

interface Call extends RequestInit {
  readonly token?: string;
  readonly user?: string;
  readonly headers?: Record<string, string>;
}

async function call(
  path: string,
  { token, user, headers, ...init }: Call = {},
  at: Parameters<typeof fetchAny>[0] = site,
): Promise<Reply> {
  const all = { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers };
  const reply = await fetchAny(at, token, user)(`http://any${path}`, { ...init, headers: all });
  return { status: reply.status, headers: reply.headers, body: JSON.parse((await reply.text()) || '{}') };
}

function rpc(
  caller: Call,
  method: string,
  params: object,
  agent = 'helper',
  at?: Parameters<typeof fetchAny>[0],
): Promise<Reply> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params });
  return call(`/run/a2a/${agent}`, { ...caller, method: 'POST', body }, at);
}

const codeOf = ({ body }: Reply) => body.error?.code;

const message = (text: string, more: object = {}) => ({
  message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more },
});

const send = (caller: Call, text: string, more: object = {}, agent?: string) =>
  rpc(caller, 'SendMessage', message(text, more), agent);

async function asked(person: Person): Promise<SentTask> {
  return (await send(person, 'text')).body.result.task;
}

/** The state of a task as its person sees it now. */
const statusOf = async (person: Person, id: string) =>
  (await rpc(person, 'GetTask', { id })).body.result.status;

const NOT_FOUND = -32001;
const UNSUPPORTED = -32004;
const INVALID_PARAMS = -32602;

describe('a call that is refused', () => {
  it('needs a valid token, and says where it fails by 401 and a challenge [A2A-40]', async () => {
    for (const caller of [{}, { token: 'nonsense' }]) {
      const reply = await rpc(caller, 'GetTask', { id: 'x' });
      expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      expect((await call('/run/a2a/helper/tasks/x', caller)).status).toBe(401);
    }
  });

  it('knows no task of another user, of another agent or of nobody, and tells them not apart [A2A-07 A2A-08 A2A-32 A2A-46 A2A-47]', async () => {
    const [owner, other] = [newPerson(), newPerson()];
    const { id } = await asked(owner);
    const replies = [
      await rpc(other, 'GetTask', { id }),
      await rpc({ token: `${owner.tenant}/somebody-else` }, 'CancelTask', { id }),
      await rpc(owner, 'GetTask', { id }, 'speaker'),
      await rpc(owner, 'GetTask', { id: 'sr_nobody' }),
      await rpc(owner, 'GetTask', { id: '../secret' }),
      await send(other, 'green', { taskId: id }),
      await rpc(other, 'SubscribeToTask', { id }),
      await rpc(other, 'ListTaskPushNotificationConfigs', { taskId: id }),
    ];
    for (const { body } of replies)
      expect(body.error).toEqual({ ...replies[0]?.body.error, code: NOT_FOUND });
    expect(replies[0]?.body.error?.data).toMatchObject([{ '@type': expect.stringMatching(/ErrorInfo$/) }]);
    const rest = await call(`/run/a2a/helper/tasks/${id}`, other);
    expect([rest.status, JSON.stringify(rest.body)]).toEqual([404, expect.not.stringContaining('colour')]);
  });

  it('knows no context of another user: a message that names it begins a context of the caller', async () => {
    const [owner, other] = [newPerson(), newPerson()];
    const contextId = `ctx-${randomUUID()}`;
    await send(owner, 'the secret of the owner', { contextId });
    const told = await send(owner, 'before', { contextId });
    expect(JSON.stringify(told.body)).toContain('the secret of the owner');
    const { body } = await send(other, 'before', { contextId });
    expect(body.result.task.artifacts).toMatchObject([{ parts: [{ text: 'Before: []' }] }]);
    const { tasks } = (await rpc(other, 'ListTasks', { contextId })).body.result;
    expect(tasks.map(({ id }) => id)).toEqual([body.result.task.id]);
  });

  it('refuses a context that is not the task’s, or none that can be, and a late answer [A2A-10 A2A-12 A2A-52]', async () => {
    const person = newPerson();
    const { id: taskId } = await asked(person);
    expect(codeOf(await send(person, 'green', { taskId, contextId: 'other' }))).toBe(INVALID_PARAMS);
    expect(codeOf(await send(person, 'hi', { contextId: 'a b' }))).toBe(INVALID_PARAMS);
    await send(person, 'green', { taskId });
    expect(codeOf(await send(person, 'blue', { taskId }))).toBe(UNSUPPORTED);
  });

  it('refuses versions that it does not speak, also where HTTP+JSON names none [A2A-33]', async () => {
    const { token } = newPerson();
    expect(codeOf(await rpc({ token, headers: { 'a2a-version': '9.0' } }, 'GetTask', { id: 'x' }))).toBe(
      -32009,
    );
    const rest = await call('/run/a2a/helper/tasks', { token, headers: { 'a2a-version': '' } });
    expect(rest.status).toBe(400);
  });

  it.each([
    // Patch numbers do not count; a request names its version by the header, or by its query.
    ['1.0.0', '', 'GetTask'],
    ['1.0.7', '', 'GetTask'],
    ['', '?A2A-Version=1.0', 'GetTask'],
    ['1.0', '?A2A-Version=0.3', 'GetTask'],
    ['0.3.0', '', 'tasks/get'],
    ['', '?A2A-Version=0.3.0', 'tasks/get'],
    ['', '', 'tasks/get'],
  ])('serves version %j%s [A2A-50]', async (version, query, method) => {
    const headers = { 'a2a-version': version };
    const { token } = newPerson();
    const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: { id: 'x' } });
    const post = { token, headers, method: 'POST', body };
    expect(codeOf(await call(`/run/a2a/helper${query}`, post))).toBe(NOT_FOUND);
    const rest = await call(`/run/a2a/helper/tasks/x${query}`, { token, headers });
    expect(rest.status).toBe(method === 'GetTask' ? 404 : 400);
  });

  it.each([
    ['pageSize', [0, -1, 101, 'many', 1.5], [1, 100]],
    ['historyLength', [-1, 'all'], [0, 3]],
    ['status', ['TASK_STATE_LOST', 'completed'], ['TASK_STATE_COMPLETED']],
    [
      'statusTimestampAfter',
      ['yesterday', '2026-13-01T00:00:00Z', 'March 7', '1'],
      ['2026-01-15T09:30:00.000Z'],
    ],
    ['pageToken', ['forged'], []],
  ] as const)('a list with a wrong %s [A2A-45]', async (name, wrong, right) => {
    const person = newPerson();
    const listed = async (value: string | number) => {
      const reply = await rpc(person, 'ListTasks', { [name]: value });
      if (reply.body.error !== undefined) expect(reply.body.error.message).toContain(name);
      return [codeOf(reply), (await call(`/run/a2a/helper/tasks?${name}=${value}`, person)).status];
    };
    for (const value of wrong) expect(await listed(value), String(value)).toEqual([INVALID_PARAMS, 400]);
    for (const value of right) expect(await listed(value), String(value)).toEqual([undefined, 200]);
    if (name === 'pageSize')
      for (const value of ['0x10', '1e1', ''])
        expect((await call(`/run/a2a/helper/tasks?pageSize=${value}`, person)).status).toBe(400);
    if (name !== 'historyLength') return;
    expect(codeOf(await rpc(person, 'GetTask', { id: 'x', historyLength: -1 }))).toBe(INVALID_PARAMS);
    const sent = { ...message('hi'), configuration: { historyLength: -1 } };
    expect(codeOf(await rpc(person, 'SendMessage', sent))).toBe(INVALID_PARAMS);
    expect((await rpc(person, 'ListTasks', {})).body.result.tasks ?? []).toEqual([]);
  });

  it('ignores extensions that it does not know, and confirms the one that it does [A2A-49]', async () => {
    const headers = { 'a2a-extensions': `https://example.com/other, ${ELICITATION_EXTENSION}` };
    const reply = await send({ ...newPerson(), headers }, 'hi');
    expect(reply.headers.get('a2a-extensions')).toBe(ELICITATION_EXTENSION);
  });

  it('reads what it knows of a message, and needs its id and its parts [A2A-54]', async () => {
    const person = newPerson();
    const { messageId: _, ...unnamed } = message('hi').message;
    expect(codeOf(await rpc(person, 'SendMessage', { message: unnamed }))).toBe(INVALID_PARAMS);
    expect(codeOf(await send(person, '', { parts: [] }))).toBe(INVALID_PARAMS);
    expect(codeOf(await send(person, 'hi', { mood: 'good' }))).toBeUndefined();
  });

  it('refuses parts that are too large, of other kinds, and answers that are none', async () => {
    const person = newPerson();
    const large = await send(person, 'x'.repeat(BODY_BYTES_MAX));
    expect([large.status, codeOf(large)]).toEqual([413, -32600]);
    const body = JSON.stringify(message('x'.repeat(BODY_BYTES_MAX)));
    const rest = await call('/run/a2a/helper/message:send', { ...person, method: 'POST', body });
    expect([rest.status, rest.body.error]).toMatchObject([413, { status: 'INVALID_ARGUMENT' }]);
    const file = { url: 'https://example.com/file', mediaType: 'application/pdf' };
    expect(codeOf(await send(person, '', { parts: [file] }))).toBe(-32005);
    const task = await asked(person);
    const metadata = { note: 'x'.repeat(20_000) };
    for (const more of [{ metadata }, { taskId: task.id, metadata }, { referenceTaskIds: [metadata.note] }]) {
      const [name] = Object.keys(more).slice(-1);
      expect((await send(person, 'green', more)).body.error).toMatchObject({
        code: INVALID_PARAMS,
        message: expect.stringMatching(`message.${name}: .*at most 16384 bytes`),
      });
    }
    const answer = (elicitationId: string, content?: object, times = 1) => {
      const data = { type: 'elicitation-response', elicitationId, action: 'accept', content };
      return send(person, '', { taskId: task.id, parts: Array.from({ length: times }, () => ({ data })) });
    };
    expect(codeOf(await answer('el_0000000000000000000000', {}, 50))).toBe(NOT_FOUND);
    const many = (await answer('el_0000000000000000000000', {}, 51)).body.error;
    expect(many).toMatchObject({
      code: INVALID_PARAMS,
      message: expect.stringMatching(/at most 50 answers/),
    });
    const { error } = (await answer(questionOf(task.status).elicitationId, { answer: 7 })).body;
    expect(error).toMatchObject({ code: INVALID_PARAMS, message: expect.stringMatching(/answer/) });
    expect((await statusOf(person, task.id)).state).toBe('TASK_STATE_INPUT_REQUIRED');
  });
});

it('a list reads the feeds of its page only, and leaves artifacts out unless they are asked for [A2A-42 A2A-43 A2A-53]', async () => {
  const person = newPerson();
  for (const text of ['one', 'two', 'three']) await send(person, text);
  const reads = site.pods.map(({ engine }) => vi.spyOn(engine, 'replayItems'));
  const page = await rpc(person, 'ListTasks', { pageSize: 1 });
  const whole = await rpc(person, 'ListTasks', { pageSize: 1, includeArtifacts: true });
  const count = reads.reduce((sum, read) => sum + read.mock.calls.length, 0);
  for (const read of reads) read.mockRestore();
  expect([page.body.result.totalSize, count]).toEqual([3, 2]);
  expect(page.body.result.tasks).toMatchObject([{ history: [{ parts: [{ text: 'three' }] }] }]);
  expect(page.body.result.tasks[0]).not.toHaveProperty('artifacts');
  expect(page.body.result.tasks[0]?.status.timestamp).toMatch(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/);
  expect(page.body.result.nextPageToken).not.toBe('');
  expect(whole.body.result.tasks).toMatchObject([{ artifacts: [{ parts: [{ text: 'Hello: three' }] }] }]);
  const done = await rpc(person, 'ListTasks', { status: 'TASK_STATE_COMPLETED' });
  expect(done.body.result).toMatchObject({ totalSize: 3, nextPageToken: '' });
});

it('data of a message that begins a task is input of its agent; in an answer it must be one', async () => {
  const person = newPerson();
  const parts = [{ text: 'Book this:' }, { data: { seat: '12A', legs: [1, 2] } }];
  const { task } = (await send(person, '', { parts })).body.result;
  expect(JSON.stringify(task.artifacts)).toContain('12A');
  const { id: taskId } = await asked(person);
  expect(codeOf(await send(person, '', { taskId, parts: [{ data: { seat: '12A' } }] }))).toBe(INVALID_PARAMS);
  const broken = { type: 'elicitation-response', action: 'perhaps' };
  expect(codeOf(await send(person, '', { parts: [{ data: broken }] }))).toBe(INVALID_PARAMS);
});

it('a plain answer that is sent again answers the same question, not the next one', async () => {
  const person = newPerson();
  const { task } = (await send(person, 'twice')).body.result;
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
  const textOf = ({ message: asking }: SentStatus) => JSON.stringify(asking?.parts ?? []);
  await expect.poll(async () => textOf(await statusOf(person, task.id))).toContain('Which colour?');
  const again = (await rpc(person, 'SendMessage', reply)).body.result.task.status;
  expect([again.state, textOf(again)]).toEqual([
    'TASK_STATE_INPUT_REQUIRED',
    expect.stringContaining('Which colour?'),
  ]);
  const other = await send(person, 'blue', { taskId: task.id, messageId: 'no reference id' });
  expect(codeOf(other)).toBe(INVALID_PARAMS);
  expect((await statusOf(person, task.id)).state).toBe('TASK_STATE_INPUT_REQUIRED');
});

describe('a call that waits for its task', () => {
  it('replies with the task as it is after a while', async () => {
    const impatient = await openOther({ waitMs: paced(1_000) });
    const { body } = await rpc(newPerson(), 'SendMessage', message('slow'), 'helper', impatient);
    expect(body.result.task.status.state).toBe('TASK_STATE_WORKING');
  });

  it('takes a place of the streams of its person [A2A-57]', async () => {
    const person = newPerson();
    const bounded = await openOther({}, { userStreams: 1 });
    const sendSlow = () => rpc(person, 'SendMessage', message('slow'), 'helper', bounded);
    const waiting = sendSlow();
    const tasks = tasksOf(await openClient(site, person));
    const [task] = await waitUntil(
      async () => {
        const working = (await tasks.list()).tasks;
        return working.length > 0 && working;
      },
      { what: 'the task to work' },
    );
    expect((await sendSlow()).status).toBe(429);
    await tasks.cancel(task?.id ?? '');
    expect((await waiting).body.result.task.status.state).toBe('TASK_STATE_CANCELED');
  });
});

it('a GET changes nothing: a task is cancelled by POST alone', async () => {
  const person = newPerson();
  const { id } = await asked(person);
  const path = `/run/a2a/helper/tasks/${id}:cancel`;
  expect((await call(path, person)).status).toBe(404);
  expect((await statusOf(person, id)).state).toBe('TASK_STATE_INPUT_REQUIRED');
  expect((await call(path, { ...person, method: 'POST', body: '{}' })).status).toBe(200);
  expect((await statusOf(person, id)).state).toBe('TASK_STATE_CANCELED');
});

describe('a service key that speaks for a person', () => {
  const keyOf = ({ tenant, userId }: Person) => ({ token: `key/${tenant}`, user: userId });

  it('names the person, and answers only where the agent allows it; the record says who did', async () => {
    const person = newPerson();
    expect((await send({ token: `key/${person.tenant}` }, 'hi')).status).toBe(403);
    // Each key without scopes could otherwise act as anybody.
    expect((await send({ ...keyOf(person), token: `default-key/${person.tenant}` }, 'hi')).status).toBe(403);
    const { body } = await send(keyOf(person), 'text', {}, 'speaker');
    const done = await send(keyOf(person), 'green', { taskId: body.result.task.id }, 'speaker');
    expect(done.body.result.task.status.state).toBe('TASK_STATE_COMPLETED');
    const { tenant, userId } = person;
    const page = { owner: { tenant, userId }, statuses: ['accepted'], limit: 5 } as const;
    const { rows } = await site.pods[0].engine.list(page);
    expect(rows.map(({ settlement }) => settlement?.surface)).toEqual(['a2a-caller']);
  });

  it('sees the tasks and the contexts that it began, and none of the person or of another key', async () => {
    const person = newPerson();
    const { token } = person;
    const ofPerson = (await send({ token }, 'hi', { contextId: 'shared' }, 'speaker')).body.result.task;
    const ofKey = (await send(keyOf(person), 'hi', { contextId: 'shared' }, 'speaker')).body.result.task;
    const other = { ...keyOf(person), token: `other-key/${person.tenant}` };
    for (const id of [ofPerson.id, ofKey.id]) {
      expect(codeOf(await rpc({ token }, 'GetTask', { id }, 'speaker'))).toBeUndefined();
      expect(codeOf(await rpc(other, 'GetTask', { id }, 'speaker'))).toBe(NOT_FOUND);
    }
    expect(codeOf(await rpc(keyOf(person), 'GetTask', { id: ofPerson.id }, 'speaker'))).toBe(NOT_FOUND);
    expect(codeOf(await rpc(keyOf(person), 'CancelTask', { id: ofPerson.id }, 'speaker'))).toBe(NOT_FOUND);
    const listed = (await rpc(keyOf(person), 'ListTasks', {}, 'speaker')).body.result.tasks;
    expect(listed.map(({ id }) => id)).toEqual([ofKey.id]);
  });

  it('finds its own messages in the history, and not the answers of the person, who finds all', async () => {
    const person = newPerson();
    const { task } = (await send(keyOf(person), 'text trip', { messageId: 'begin' }, 'speaker')).body.result;
    await send(keyOf(person), '', { messageId: 'key', taskId: task.id, ...declining(task, 0) }, 'speaker');
    await send(person, '', { messageId: 'person', taskId: task.id, ...declining(task, 1) }, 'speaker');
    const found = async (caller: Call) => {
      const { result } = (await rpc(caller, 'GetTask', { id: task.id }, 'speaker')).body;
      return result.history?.filter(({ role }) => role === 'ROLE_USER').map(({ messageId }) => messageId);
    };
    expect(await found(keyOf(person))).toEqual(['begin', 'key']);
    expect(await found(person)).toEqual(['begin', 'key', 'person']);
  });

  it('is given the page of the person for a form that only they may answer, and cannot answer it [A2A-20 A2A-29]', async () => {
    const person = newPerson();
    const { task } = (await send(keyOf(person), 'text')).body.result;
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const question = questionOf(task.status);
    expect([question.mode, question.requestedSchema]).toEqual(['url', undefined]);
    expect((await send(keyOf(person), 'green', { taskId: task.id })).status).toBe(403);
    expect((await statusOf(person, task.id)).state).toBe('TASK_STATE_INPUT_REQUIRED');
  });
});

/** A receiver of pushes, which replies 500 to the first ones and 204 to the others. */
async function openReceiver(refusals = 0) {
  const received: { headers: IncomingHttpHeaders; text: string }[] = [];
  let left = refusals;
  const server = createServer(async (req, res) => {
    let text = '';
    for await (const chunk of req) text += chunk;
    left -= 1;
    if (left < 0) received.push({ headers: req.headers, text });
    res.writeHead(left < 0 ? 204 : 500).end();
  });
  onTestFinished(() => void server.close());
  const bodies = () => received.map(({ text }) => JSON.parse(text));
  return { received, bodies, url: `http://127.0.0.1:${await listenOnFreePort(server)}/push` };
}

describe('push notifications', () => {
  const authentication = { scheme: 'Bearer', credentials: 'a-secret-of-the-receiver' };
  const SENT_HEADERS = {
    'content-type': expect.stringMatching(/json/),
    'x-a2a-notification-token': 'task-token',
    authorization: 'Bearer a-secret-of-the-receiver',
  };

  it('have the bodies of 0.3 for a client of 0.3, in the order of the states', async () => {
    const { received, bodies, url } = await openReceiver();
    const client = await openClient(site, { binding: 'JSONRPC 0.3', ...newPerson() });
    const { send: sendText } = tasksOf(client);
    const { id: taskId, contextId } = await sendText('text');
    const config = { tenant: '', taskId, id: 'legacy', url, token: 'task-token', authentication };
    await client.createTaskPushNotificationConfig(config);
    await sendText('green', { taskId });
    const states = () => bodies().flatMap(({ status }) => status?.state ?? []);
    await expect.poll(states).toContain('completed');
    expect([...new Set(states())]).toEqual(['submitted', 'working', 'input-required', 'completed']);
    expect(bodies()[0]).toMatchObject({ kind: 'task', id: taskId, contextId });
    const kind = expect.stringMatching(/^(?:status|artifact)-update$/);
    for (const body of bodies().slice(1)) expect(body).toMatchObject({ kind, taskId });
    const asking = bodies().find(({ status }) => status?.state === 'input-required');
    expect(asking.status.message).toMatchObject({
      kind: 'message',
      parts: [
        { kind: 'text', text: 'The helper asks: Which colour?' },
        { kind: 'data', data: { type: 'elicitation' } },
      ],
    });
    expect(received[0]?.headers).toMatchObject(SENT_HEADERS);
  });

  it('deliver the states that every reader sees, in order, with the credentials, and again after a failure [A2A-34 A2A-51]', async () => {
    const person = newPerson();
    const { received, bodies, url } = await openReceiver(1);
    const config = { url, token: 'task-token', authentication };
    const first = { ...message('text'), configuration: { taskPushNotificationConfig: config } };
    const { id } = (await rpc(person, 'SendMessage', first)).body.result.task;
    await send(person, 'green', { taskId: id });
    const states = () =>
      bodies().flatMap(
        ({ task, statusUpdate }: Push) =>
          (task ?? statusUpdate)?.status.state.replace('TASK_STATE_', '') ?? [],
      );
    await expect.poll(states).toContain('COMPLETED');
    expect(states()).toEqual(['SUBMITTED', 'WORKING', 'INPUT_REQUIRED', 'WORKING', 'COMPLETED']);
    expect(received[0]?.headers).toMatchObject(SENT_HEADERS);
    const { body } = await rpc(person, 'ListTaskPushNotificationConfigs', { taskId: id });
    expect(body.result.configs).toMatchObject([{ url, taskId: id }]);
    expect(JSON.stringify(body)).not.toMatch(/a-secret-of-the-receiver|task-token/);
    const path = `/run/a2a/helper/tasks/${id}/pushNotificationConfigs/${body.result.configs[0]?.id}`;
    for (const _ of [1, 2]) expect((await call(path, { ...person, method: 'DELETE' })).status).toBe(204);
  });

  it('keep one configuration for each id, that of the task by default, and are refused before a message has an effect [A2A-51]', async () => {
    const person = newPerson();
    const task = await asked(person);
    const { received, url } = await openReceiver();
    const put = (more: object = {}) =>
      rpc(person, 'CreateTaskPushNotificationConfig', { taskId: task.id, url, ...more });
    await put();
    await expect.poll(() => JSON.stringify(received)).toContain('INPUT_REQUIRED');
    const known = received.length;
    expect((await put({ token: 'another' })).body.result.id).toBe(task.id);
    // Clients of 0.3 may leave the id out.
    const legacy = { ...person, headers: { 'a2a-version': '0.3' } };
    const got = await rpc(legacy, 'tasks/pushNotificationConfig/get', { id: task.id });
    expect(got.body.result).toMatchObject({ taskId: task.id, pushNotificationConfig: { id: task.id } });
    for (const id of [undefined, 'nope'])
      expect(codeOf(await rpc(person, 'GetTaskPushNotificationConfig', { taskId: task.id, id }))).toBe(
        NOT_FOUND,
      );
    for (const id of ['a', 'b', 'c', 'd']) await put({ id });
    expect(codeOf(await put({ id: 'e' }))).toBe(INVALID_PARAMS);
    // The four new ones get what there is; the one that was replaced has it.
    await expect.poll(() => received.length).toBe(known * 5);
    expect(received.filter(({ headers }) => headers['x-a2a-notification-token'] === 'another')).toEqual([]);
    const sendWith = (config: object, more: object = {}) =>
      rpc(person, 'SendMessage', {
        ...message('green', more),
        configuration: { taskPushNotificationConfig: config },
      });
    for (const config of [{ url: 'https://10.0.0.1/x' }, { url, id: 'e' }])
      expect(codeOf(await sendWith(config, { taskId: task.id }))).toBe(INVALID_PARAMS);
    expect(codeOf(await sendWith({ url: 'https://10.0.0.1/x' }))).toBe(INVALID_PARAMS);
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
      expect(codeOf(reply), url).toBe(INVALID_PARAMS);
    }
  });
});

it('the card names what it offers, for each version; nobody needs a token for it [A2A-48 A2A-55 A2A-56]', async () => {
  const card = await call('/.well-known/agent-card.json');
  const extensions = [{ uri: ELICITATION_EXTENSION }];
  expect(card.body).toMatchObject({ name: 'Helper', capabilities: { extensions } });
  const legacy = await call('/run/a2a/speaker/.well-known/agent-card.json', {
    headers: { 'a2a-version': '' },
  });
  expect(legacy.body).toMatchObject({ name: 'Speaker', preferredTransport: 'JSONRPC' });
  // Without a version it serves clients of both.
  expect(legacy.body).toMatchObject({
    supportedInterfaces: [{ protocolVersion: '1.0' }, {}, {}],
    securitySchemes: { bearer: { type: 'http', httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    security: [{ bearer: [] }],
    securityRequirements: [{ schemes: { bearer: {} } }],
  });
  const alone = { headers: { 'a2a-version': '0.3.0' } };
  expect((await call('/.well-known/agent-card.json', alone)).body).not.toHaveProperty('supportedInterfaces');
  const unnamed = new DefaultAgentCardResolver({
    fetchImpl: (input) => fetchAny(site)(input, { headers: {} }),
  });
  const read = await unnamed.resolve('http://any');
  expect(read.supportedInterfaces.map(({ protocolVersion }) => protocolVersion)).toContain('1.0');
  expect(card.headers.get('cache-control')).toMatch(/max-age=\d+/);
  const headers = { 'if-none-match': card.headers.get('etag') ?? '' };
  expect((await call('/.well-known/agent-card.json', { headers })).status).toBe(304);
  expect((await call('/run/a2a/nobody/.well-known/agent-card.json')).status).toBe(404);
  // It declares no extended card.
  expect(codeOf(await rpc(newPerson(), 'GetExtendedAgentCard', {}))).toBe(UNSUPPORTED);
});

describe('a task that deployments have delegated to each other', () => {
  const begin = (hops: unknown) => send(newPerson(), 'hello', { metadata: { [HOPS_KEY]: hops } });

  it('is refused beyond the configured number of deployments', async () => {
    const { body } = await begin(6);
    expect(body.error).toMatchObject({ message: expect.stringContaining('more deployments') });
    expect(body.result).toBeUndefined();
  });

  it.each([5, 0, -1, 2.5, 'six', null])('begins with %s', async (hops) => {
    expect((await begin(hops)).body.result.task.status.state).toBe('TASK_STATE_COMPLETED');
  });
});
