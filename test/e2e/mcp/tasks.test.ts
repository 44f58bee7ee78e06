import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SECRET } from '../../harness/chat/client.ts';
import { modern, modernExchange, SHOWS_ALL } from '../../harness/mcp-clients/raw.ts';
import { createAskingFixture } from '../../harness/mcp-servers/asking.ts';
import { type RunningMcpServer, startMcpServer } from '../../harness/mcp-servers/mcp-servers.ts';
import { openSite, type Site, type SitePod } from '../../harness/site/site.ts';
import { userToken } from '../../harness/tokens.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const SHOWS_TASKS = { ...SHOWS_ALL, ...TASKS };

// Another pod opens the sealed round of a call with them.
const KEYS = `one:${randomBytes(32).toString('base64')}`;

const fixture = createAskingFixture();
let site: Site;
let server: RunningMcpServer;
let pods: SitePod[];

beforeAll(async () => {
  site = await openSite();
  const model = await site.model({ script: [] });
  server = await startMcpServer({ revision: 'stateless', fixture });
  const config = site.agents(
    model.url,
    `agents:
  helper: { title: Helper, model: scripted, instructions: Help. }
mcpServers:
  desk: { title: Desk, transport: http, url: "${server.url}", credentialScope: none }
mcpOffer: { tools: [{ server: desk, prefix: false, task: always }] }
`,
  );
  const env = {
    PARLEY_CONFIG: config,
    PARLEY_JWT_SECRET: SECRET,
    PARLEY_VAULT_KEYS: KEYS,
    PARLEY_TAKE_OVER_MS: '250',
  };
  await site.worker(env);
  pods = await Promise.all([site.pod(env), site.pod(env), site.pod(env)]);
});
afterAll(async () => {
  await site?.stop();
  await server?.kill();
});

/** A client of one person: each request goes to the pod that it names. */
async function clientOf(userId: string) {
  const token = await userToken({ secret: SECRET, userId });
  return async (
    pod: number,
    method: string,
    params: Record<string, unknown>,
    capabilities: object = SHOWS_TASKS,
  ) => {
    const request = modern(method, params, capabilities);
    const name = typeof params.taskId === 'string' ? { 'mcp-name': params.taskId } : {};
    const { status, messages } = await modernExchange(pods[pod]?.url ?? '', { token }, request, name);
    const { result, error } = messages.at(-1) ?? {};
    return { status, result, error };
  };
}

async function end(pod: number): Promise<void> {
  pods[pod]?.kill('SIGKILL');
  await pods[pod]?.exited;
}

it('a task is asked on one pod, polled on another, answered on a third, whichever pods die, by its owner alone', async () => {
  const ask = await clientOf('ada');
  const other = await clientOf('bob');
  const { result: created } = await ask(0, 'tools/call', { name: 'book', arguments: {} });
  expect(created).toMatchObject({ resultType: 'task', status: 'working', ttlMs: expect.any(Number) });
  const taskId = String(created?.taskId);
  const get = (pod: number, capabilities?: object) => ask(pod, 'tasks/get', { taskId }, capabilities);
  await waitUntil(async () => (await get(1)).result?.status === 'input_required', {
    what: 'the task asks',
  });
  await end(0);
  const [key = ''] = Object.keys((await get(1)).result?.inputRequests ?? {});
  expect(key).toMatch(/^el_/);

  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
    const params = { taskId, inputResponses: {} };
    expect(await other(1, method, params)).toMatchObject({ error: { code: -32602 } });
    expect(await ask(1, method, params, SHOWS_ALL)).toMatchObject({ status: 400, error: { code: -32021 } });
  }
  // A client that shows no forms is not asked, and is told where its person is.
  expect((await get(1, TASKS)).result).toMatchObject({
    status: 'working',
    statusMessage: expect.stringContaining('This task waits for the user'),
  });
  const update = (pod: number, content: object) =>
    ask(pod, 'tasks/update', { taskId, inputResponses: { [key]: { action: 'accept', content } } });
  expect(await update(1, { city: 5 })).toMatchObject({ error: { code: -32602 } });
  await end(1);
  expect((await update(2, { city: 'Bern' })).result).toMatchObject({ resultType: 'complete' });
  await waitUntil(async () => (await get(2)).result?.status === 'completed', {
    what: 'the task has its result',
  });
  expect(JSON.stringify((await get(2)).result)).toContain('Bern');
  expect(fixture.effects).toHaveLength(1);
});
