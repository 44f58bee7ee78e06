import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createChatClient,
  person,
  questionsIn,
  SECRET,
  textOf,
  untilAsked,
} from '../../harness/chat/client.ts';
import { modern, modernExchange, SHOWS_ALL } from '../../harness/mcp-clients/raw.ts';
import {
  asking,
  cityRequest,
  completed,
  type FixtureTask,
  startTaskingServer,
  type TaskingServer,
} from '../../harness/mcp-servers/tasking.ts';
import { onCommand } from '../../harness/site/redis-monitor.ts';
import { openSite, type Site, type SitePod } from '../../harness/site/site.ts';
import { userToken } from '../../harness/tokens.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const SHOWS_TASKS = { ...SHOWS_ALL, extensions: { 'io.modelcontextprotocol/tasks': {} } };

let site: Site;
let server: TaskingServer;
let pods: SitePod[];
let env: Record<string, string>;
/** While it is true, the server lets nobody read a task. */
let isSilent = false;

beforeAll(async () => {
  site = await openSite();
  const model = await site.model({
    script: [
      ({ results }) =>
        results.length > 0
          ? { text: results.map(({ text }) => text).join(' ') }
          : { calls: [{ name: 'desk__manual', arguments: {} }] },
    ],
  });
  server = await startTaskingServer({
    refuses: (method) => (isSilent && method === 'tasks/get' ? 503 : undefined),
  });
  const config = site.agents(
    model.url,
    `agents:
  helper: { title: Helper, model: scripted, instructions: Help., tools: [{ server: desk }] }
mcpServers:
  desk: { title: Desk, transport: http, url: "${server.url}", credentialScope: none }
mcpOffer: { tools: [{ server: desk, prefix: false, task: always }] }
`,
  );
  env = {
    PARLEY_CONFIG: config,
    PARLEY_JWT_SECRET: SECRET,
    PARLEY_VAULT_KEYS: `one:${randomBytes(32).toString('base64')}`,
    // A pod on a busy machine must not be mistaken for a dead one.
    PARLEY_LEASE_MS: '10000',
    PARLEY_TAKE_OVER_MS: '1000',
  };
  await site.worker(env);
  pods = await Promise.all([site.pod(env), site.pod(env)]);
});
afterAll(async () => {
  await site?.stop();
  await server?.kill();
});

/** Kills one of the two pods, waits until the other one reads the tasks, and starts another in its place. */
async function replace(pod: 0 | 1, tasks: readonly FixtureTask[]): Promise<void> {
  pods[pod]?.kill('SIGKILL');
  await pods[pod]?.exited;
  const before = tasks.map(({ reads }) => reads);
  await waitUntil(() => tasks.every(({ reads }, at) => reads > (before[at] ?? 0) + 1), {
    what: 'the other pod to read the tasks',
  });
  pods[pod] = await site.pod(env);
}

const { say, resume, post } = createChatClient((pod) => pods[pod]?.url ?? '');

/** A client that gets the calls of its person as tasks. */
async function clientOf(userId: string) {
  const token = await userToken({ secret: SECRET, userId });
  return async (pod: number, method: string, params: Record<string, unknown>) => {
    const name = typeof params.taskId === 'string' ? { 'mcp-name': params.taskId } : {};
    const request = modern(method, params, SHOWS_TASKS);
    const { messages } = await modernExchange(pods[pod]?.url ?? '', { token }, request, name);
    return messages.at(-1)?.result ?? {};
  };
}

it('tasks of a server, of a chat and of a client of MCP, survive their pods between handle, question, answer and end, and each call is made once', async () => {
  const { authorization } = await person();
  const ask = await clientOf('bob');
  const chatId = 'a-task';
  await say({ authorization, text: 'Go.', chatId });
  const { taskId } = await ask(0, 'tools/call', { name: 'manual', arguments: {} });
  await waitUntil(() => server.tasks.length === 2 && server.tasks.every(({ reads }) => reads > 0), {
    what: 'two tasks that are read',
  });
  const tasks = [...server.tasks];

  // Between the handle and the question.
  await replace(0, tasks);
  for (const task of tasks) task.state = asking({ city: cityRequest() });
  const chat = await resume(1, authorization, chatId);
  if (chat === undefined) throw new Error('The chat has no turn.');
  const elicitationId = await untilAsked(chat);
  const requests = async (pod: number) => (await ask(pod, 'tasks/get', { taskId })).inputRequests ?? {};
  await waitUntil(async () => Object.keys(await requests(1)).length > 0, {
    what: 'the question of the task',
  });

  // Between the question and the answer.
  await replace(1, tasks);
  const [key = '', ...others] = Object.keys(await requests(0));
  expect(others).toEqual([]);
  const answer = (city: string) => ({ action: 'accept', content: { city } });
  const reply = await post(1, '/run/api/elicitation-responses', authorization, {
    conversationId: chatId,
    elicitationId,
    ...answer('Bern'),
  });
  expect(reply.status).toBe(200);
  await ask(1, 'tasks/update', { taskId, inputResponses: { [key]: answer('Rome') } });
  await waitUntil(() => tasks.every(({ updates }) => updates.length > 0), { what: 'the answers' });

  // Between the answer and the end.
  await replace(0, tasks);
  const reading = await resume(1, authorization, chatId);
  for (const task of tasks) task.state = completed(`done ${JSON.stringify(task.updates[0])}`);
  const message = await reading?.done;
  expect(textOf(message)).toContain('"city":"Bern"');
  expect(questionsIn(message).map(({ status }) => status)).toEqual(['accepted']);
  const state = () => ask(1, 'tasks/get', { taskId });
  await waitUntil(async () => (await state()).status === 'completed', { what: 'the result' });
  expect(JSON.stringify(await state())).toContain('Rome');
  expect(server.tasks).toHaveLength(2);
  for (const { updates, isCancelled } of tasks) {
    // The same answer may be sent again.
    expect(new Set(updates.map((update) => JSON.stringify(update))).size).toBe(1);
    expect(isCancelled).toBe(false);
  }
});

it('a task whose pod dies as soon as its handle is stored, before it was read, is read by another pod, and its call is made once', async () => {
  const { authorization } = await person();
  const chatId = 'only-a-handle';
  const before = server.tasks.length;
  isSilent = true;
  const stopLooking = await onCommand(site.redis.url, '"roundServer"', () => pods[0]?.kill('SIGKILL'));
  await say({ authorization, text: 'Go.', chatId });
  await pods[0]?.exited;
  stopLooking();
  isSilent = false;
  const task = await waitUntil(() => server.tasks.find((one, at) => at >= before && one.reads > 0), {
    what: 'another pod to read the task',
  });
  const chat = await resume(1, authorization, chatId);
  task.state = completed('done');
  expect(textOf(await chat?.done)).toContain('done');
  expect(server.tasks).toHaveLength(before + 1);
});
