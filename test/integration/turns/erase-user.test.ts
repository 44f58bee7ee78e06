import { parseServiceKeys } from '@parley/shared/config/service-keys';
import { createWebhooks } from '@parley/shared/delivery/webhooks';
import { NOTHING_ERASED } from '@parley/shared/domain/erasure';
import { createLog } from '@parley/shared/observe/log';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createAuthenticate } from '../../../services/api/src/http/auth.ts';
import { createTokenVerifier } from '../../../services/api/src/http/token.ts';
import { restRoutes } from '../../../services/api/src/surfaces/rest/routes.ts';
import { wireEraseUser } from '../../../services/api/src/wiring/erase-user.ts';
import { dispatchOn } from '../../harness/engines/engines.ts';
import { answerQuestion } from '../../harness/engines/questions.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { callLimitsOn } from '../../harness/http/call-limits.ts';
import { userToken } from '../../harness/tokens.ts';
import { serveSurfaces } from '../../harness/turns/serve.ts';
import { modelOf, SURE, worldOn } from '../../harness/turns/site.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const TOKEN_SECRET = 'a secret of tests, and of nothing else';
const KEYS = [
  'acme/boss/admin:the-key-of-acme-s-boss',
  'acme/asker/ask+read:the-key-of-an-asker',
  'other/boss/admin:the-key-of-another-boss',
  'acme/second/ask:the-key-of-a-second-asker',
];
const [BOSS, ASKER, OTHER, SECOND] = KEYS.map((key) => key.slice(key.indexOf(':') + 1)) as [
  string,
  string,
  string,
  string,
];
const PERSON = { tenant: 'acme', userId: 'ada/ü@example.com' };
const PATH = `/v1/users/${encodeURIComponent(PERSON.userId)}`;

const model = modelOf(({ results }) => (results.length === 0 ? { calls: [SURE] } : { text: 'Done.' }));

/** A pod on a backend of its own: its address, its turns, and its log. */
async function startPod() {
  const world = worldOn(model);
  const { backend } = world;
  const { engine, turns } = world.pod();
  const lines: string[] = [];
  const log = createLog(
    { service: 'test', level: 'trace', pod: 'test' },
    { write: (line: string) => void lines.push(line) },
  );
  const limits = callLimitsOn(backend.limits);
  const eraseUser = wireEraseUser({
    backend,
    engine,
    log,
    deliveries: dispatchOn(backend),
    deliveryKinds: [],
    disconnectAll: undefined,
    unlink: undefined,
  });
  const webhooks = createWebhooks({ ...backend, ...ROOMY });
  const workflows = {
    records: backend.ownerRecords.workflows,
    keptMs: 60_000,
    positionsMax: 500,
    entryCharactersMax: 65_536,
  };
  const { url, close } = await serveSurfaces({
    surfaces: [restRoutes({ engine, limits, webhooks, hasConnectPage: () => false, eraseUser, workflows })],
    authenticate: createAuthenticate({
      serviceKeys: parseServiceKeys(KEYS).keys,
      verify: createTokenVerifier({ secret: TOKEN_SECRET, tenants: [], userClaim: 'sub' }),
    }),
    limits,
    onFault: (error) => log.error({ err: error }, 'fault'),
  });
  onTestFinished(close);
  const call = (token: string, method: string, path: string, body?: unknown) =>
    fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  return { ...world, engine, turns, lines, call };
}

/** The text of a stream so far. */
function reading(response: Response): () => string {
  let text = '';
  const read = async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
  };
  read().catch(() => undefined);
  return () => text;
}

const QUESTION = {
  userId: PERSON.userId,
  streamRequestId: 'stream-1',
  mode: 'form',
  message: 'A secret message of ada',
  requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } },
};

it('erases a user: the asker and open streams get the end, the turn stops, and nothing is left', async () => {
  const { backend, engine, turns, lines, call, saying, asked: untilAsked } = await startPod();
  const conversation = { ...PERSON, conversationId: 'talk' };
  const run = await turns.begin(saying('hello', conversation));
  await untilAsked(1, conversation);
  const asked = (await (await call(ASKER, 'POST', '/v1/elicitations', QUESTION)).json()) as {
    elicitationId: string;
  };
  const other = await call(ASKER, 'POST', '/v1/elicitations', {
    ...QUESTION,
    userId: 'bob',
    streamRequestId: 'stream-2',
  });
  const waits = call(ASKER, 'GET', `/v1/elicitations/${asked.elicitationId}/wait?timeoutSeconds=30`);
  const token = await userToken({ secret: TOKEN_SECRET, ...PERSON });
  const stream = reading(await call(token, 'GET', '/v1/streams/stream-1/events'));
  const inbox = reading(await call(token, 'GET', '/v1/inbox/events'));
  await waitUntil(() => stream().includes('elicitation-request') && inbox().includes('inbox-snapshot'), {
    what: 'the streams',
  });

  const erased = await call(BOSS, 'DELETE', PATH);
  expect([erased.status, await erased.json()]).toEqual([
    200,
    {
      userId: PERSON.userId,
      complete: true,
      erased: { ...NOTHING_ERASED, withdrawn: 2, stopped: 1, elicitations: 2, turns: 1, conversations: 1 },
    },
  ]);
  expect(await (await waits).json()).toMatchObject({ status: 'withdrawn', reason: 'user_erased' });
  for (const text of [stream, inbox])
    await waitUntil(() => text().includes('elicitation-resolved'), { what: 'the end of the question' });
  expect(stream()).toContain('"reason":"user_erased"');

  // The pod of the turn notices, and brings nothing back.
  await turns.close();
  expect(await backend.erasure.next(PERSON)).toEqual({
    elicitationIds: [],
    idempotencyKeys: [],
    streamRequestIds: [],
    turnIds: [],
    conversationIds: [],
  });
  expect(await backend.runs.standing(run)).toBeUndefined();
  const again = await call(BOSS, 'DELETE', PATH);
  expect([again.status, await again.json()]).toMatchObject([200, { complete: true, erased: NOTHING_ERASED }]);
  const asks = await call(ASKER, 'POST', '/v1/elicitations', QUESTION);
  expect([asks.status, await asks.json()]).toMatchObject([409, { code: 'user_erased' }]);
  expect(Number(asks.headers.get('retry-after'))).toBeGreaterThan(0);

  const { elicitationId } = (await other.json()) as { elicitationId: string };
  await answerQuestion(engine, { ...PERSON, userId: 'bob' }, elicitationId, 'accept', { ok: true });
  const line = lines.find((one) => one.includes('user erased')) ?? '';
  expect(JSON.parse(line)).toMatchObject({ ...PERSON, key: 'boss', complete: true, stopped: 1 });
  expect(lines.join('\n')).not.toContain('A secret message');
});

it('is for a key of the tenant with the scope admin only', async () => {
  const { call } = await startPod();
  const asked = await call(ASKER, 'POST', '/v1/elicitations', QUESTION);
  const { elicitationId } = (await asked.json()) as { elicitationId: string };
  const token = await userToken({ secret: TOKEN_SECRET, ...PERSON });
  for (const caller of [ASKER, token])
    expect((await call(caller, 'DELETE', PATH)).status, 'without the scope').toBe(403);
  expect(await (await call(OTHER, 'DELETE', PATH)).json()).toMatchObject({ erased: NOTHING_ERASED });
  expect((await call(ASKER, 'GET', `/v1/elicitations/${elicitationId}`)).status).toBe(200);
  expect((await call(BOSS, 'DELETE', `/v1/users/${'x'.repeat(300)}`)).status).toBe(404);
});

it('keeps the entries of a workflow from their latest read on', async () => {
  const { call } = await startPod();
  const path = '/v1/workflows/w/entries/0';
  const entry = { kind: 'step', name: 'pay', result: { ok: true } };
  const read = () => call(ASKER, 'GET', `${path}?userId=bob`);
  const write = () => call(ASKER, 'POST', path, { userId: 'bob', ...entry });
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  expect((await write()).status).toBe(200);
  for (const again of [read, write, read]) {
    vi.setSystemTime(Date.now() + 40_000);
    const reply = await again();
    expect([reply.status, await reply.json()]).toEqual([200, entry]);
  }
  vi.setSystemTime(Date.now() + 40_000);
  const other = await call(ASKER, 'POST', path, { userId: 'bob', kind: 'step', name: 'other' });
  expect(await other.json()).toEqual(entry);
  vi.setSystemTime(Date.now() + 61_000);
  expect((await read()).status).toBe(404);
});

it('keeps the entries of a workflow for each service key by itself', async () => {
  const { backend, call } = await startPod();
  const path = '/v1/workflows/w/entries';
  const entry = (name: string) => ({ kind: 'step', name, result: { ok: true } });
  const write = async (key: string, position: number, name: string) =>
    (await call(key, 'POST', `${path}/${position}`, { userId: 'bob', ...entry(name) })).json();
  const read = async (key: string, position: number) => {
    const reply = await call(key, 'GET', `${path}/${position}?userId=bob`);
    return reply.status === 200 ? reply.json() : reply.status;
  };
  for (const [key, name] of [
    [ASKER, 'pay'],
    [SECOND, 'ship'],
  ] as const) {
    expect(await write(key, 0, name)).toEqual(entry(name));
    expect(await write(key, 0, 'other')).toEqual(entry(name));
    expect(await read(key, 0)).toEqual(entry(name));
  }
  expect(await write(ASKER, 1, 'pay')).toEqual(entry('pay'));
  expect(await read(SECOND, 1)).toBe(404);
  // An entry of a build before this one names no key.
  const [owner, old] = [{ tenant: 'acme', userId: 'bob' }, JSON.stringify(entry('old'))];
  await backend.ownerRecords.workflows.putIfAbsent(owner, 'workflow/w/2', old, 60_000);
  expect(await read(ASKER, 2)).toEqual(entry('old'));
  expect(await write(ASKER, 2, 'new')).toEqual(entry('old'));
});
