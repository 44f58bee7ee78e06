import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SECRET } from '../../harness/chat/client.ts';
import { modern, modernExchange, SHOWS_ALL } from '../../harness/mcp-clients/raw.ts';
import { createAskingFixture } from '../../harness/mcp-servers/asking.ts';
import { type RunningMcpServer, startMcpServer } from '../../harness/mcp-servers/mcp-servers.ts';
import { openSiteInMemory, type Site, type SitePod, untilReady } from '../../harness/site/site.ts';
import { userToken } from '../../harness/tokens.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const SHOWS_TASKS = { ...SHOWS_ALL, ...TASKS };

// Another pod opens the sealed round of a call with them.
const KEYS = `one:${randomBytes(32).toString('base64')}`;

/** What a task says whose call was made by a pod that died during it. */
const LOST = 'its outcome was lost';

const fixture = createAskingFixture();
let site: Site;
let server: RunningMcpServer;
let pods: SitePod[];

beforeAll(async () => {
  site = await openSiteInMemory();
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
    // A pod on a busy machine must not be mistaken for a dead one.
    PARLEY_LEASE_MS: '10000',
    PARLEY_TAKE_OVER_MS: '1000',
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

/** The person of that client at the hub, on the last pod. */
async function hubOf(userId: string) {
  const token = await userToken({ secret: SECRET, userId });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const url = `${pods[2]?.url}/v1/elicitations`;
  return {
    respond: (id: string, content: object) =>
      fetch(`${url}/${id}/response`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ action: 'accept', content }),
      }),
    async pending(): Promise<string | undefined> {
      const { elicitations } = (await (await fetch(`${url}?status=pending`, { headers })).json()) as {
        readonly elicitations: readonly { readonly elicitationId: string }[];
      };
      return elicitations[0]?.elicitationId;
    },
  };
}

async function end(pod: number): Promise<void> {
  pods[pod]?.kill('SIGKILL');
  await pods[pod]?.exited;
}

/** Redis dies, and comes back with its data. */
async function restartRedis(...living: number[]): Promise<void> {
  await site.redis.kill9();
  await site.redis.restart();
  await Promise.all(living.map((at) => untilReady(pods[at] as SitePod)));
}

it('a task is asked on one pod, polled on another, answered on a third, whichever pods die, and Redis, by its owner alone', async () => {
  const ask = await clientOf('ada');
  const other = await clientOf('bob');
  const { result: created } = await ask(0, 'tools/call', { name: 'book', arguments: {} });
  expect(created).toMatchObject({ resultType: 'task', status: 'working', ttlMs: expect.any(Number) });
  const taskId = String(created?.taskId);
  const get = (pod: number, capabilities?: object) => ask(pod, 'tasks/get', { taskId }, capabilities);
  await waitUntil(async () => (await get(1)).result?.status === 'input_required', {
    what: 'the task asks',
  });
  const before = (await get(1)).result;
  await restartRedis(0, 1, 2);
  for (const pod of [0, 1, 2])
    expect((await get(pod)).result).toEqual({ ...before, pollIntervalMs: expect.any(Number) });
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
  // Two pods and the hub get an answer at the same time, and one of the pods dies: one counts, for all.
  const [first, second, hub] = await Promise.all([
    update(1, { city: 'Bern' }),
    update(2, { city: 'Basel' }),
    hubOf('ada').then(({ respond }) => respond(key, { city: 'Chur' })),
  ]);
  await end(1);
  for (const { result } of [first, second]) expect(result).toMatchObject({ resultType: 'complete' });
  await waitUntil(async () => (await get(2)).result?.status === 'completed', {
    what: 'the task has its result',
  });
  const told = JSON.stringify((await get(2)).result);
  const [city = LOST] = ['Bern', 'Basel', 'Chur'].filter((one) => told.includes(one));
  expect(told).toContain(city);
  // If the pod died during the call of the tool, nobody knows whether that had its effect.
  if (city === LOST) expect(fixture.effects.length).toBeLessThanOrEqual(1);
  else {
    expect(fixture.effects).toEqual([expect.stringContaining(`"${city}"`)]);
    expect(hub.status).toBe(city === 'Chur' ? 200 : 409);
  }
  await restartRedis(2);
  expect(JSON.stringify((await get(2)).result)).toContain(city);
});

it('a task whose client never comes back goes on with the answer that its person gives elsewhere', async () => {
  const ask = await clientOf('carol');
  const hub = await hubOf('carol');
  const { result: created } = await ask(2, 'tools/call', { name: 'book', arguments: {} });
  const id = await waitUntil(hub.pending, { what: 'the question' });
  const before = fixture.effects.length;
  expect((await hub.respond(id, { city: 'Bern' })).status).toBe(200);
  await waitUntil(async () => fixture.effects.length > before, { what: 'the booking' });
  await waitUntil(
    async () => (await ask(2, 'tasks/get', { taskId: created?.taskId })).result?.status === 'completed',
    { what: 'the result' },
  );
});
