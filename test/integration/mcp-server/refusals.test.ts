import { ParleyError } from '@parley/core/domain/errors';
import { readEnv } from '@parley/shared/config/env';
import type { RunRef } from '@parley/shared/domain/runs/run';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { RefusedByServer } from '../../../services/api/src/agents/mcp/refused-by-server.ts';
import { NO_OFFERING } from '../../../services/api/src/agents/tools/mcp-offer.ts';
import type { CallLimitSettings } from '../../../services/api/src/http/limits/call-limits.ts';
import { ANYBODY, route } from '../../../services/api/src/http/route.ts';
import { challengeOf } from '../../../services/api/src/surfaces/mcp/http/metadata.ts';
import { recordAnswer } from '../../../services/api/src/surfaces/mcp/questions.ts';
import type { McpRouteDeps } from '../../../services/api/src/surfaces/mcp/routes.ts';
import { createAuthentication } from '../../../services/api/src/wiring/authentication.ts';
import { turnOf } from '../../harness/engines/turn-writes.ts';
import {
  beginSession,
  callMessage,
  errorOf,
  exchange,
  initializeMessage,
  modern,
  modernCall,
  modernExchange,
  textIn,
} from '../../harness/mcp-clients/raw.ts';
import { type McpSite, mcpSurface, openMcpSite } from '../../harness/mcp-clients/setup.ts';
import {
  finishPage,
  newPerson,
  openQuestion,
  type RunningPod,
  serveOn,
} from '../../harness/protocols/pods.ts';
import { serveSurfaces } from '../../harness/protocols/served.ts';
import { userToken } from '../../harness/tokens.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const SECRET = 'a-secret-of-at-least-thirty-two-characters';

let site: McpSite;
beforeAll(async () => {
  site = await openMcpSite();
});
afterAll(() => site?.stop());

/** The address of a pod with other settings of its endpoint. */
async function serveWith(
  settings: Partial<McpRouteDeps>,
  budgets: Partial<CallLimitSettings> = {},
  turnsOn: (pod: RunningPod) => McpRouteDeps['turns'] = ({ turns }) => turns,
) {
  const surfaceOf: Parameters<typeof serveOn>[1]['surfaceOf'] = (pod, limits) =>
    mcpSurface({ turns: turnsOn(pod), ...settings })(pod, limits);
  const { url, stop } = await serveOn(site.pods[0], { surfaceOf, budgets });
  onTestFinished(stop);
  return url;
}

it('tokens are accepted for the audience of the MCP endpoint there, and for that of the API elsewhere [SEC-06]', async () => {
  const MCP = 'https://parley.example/run/v1/mcp';
  const acceptedBy = async (authenticate: ReturnType<typeof createAuthentication>) => {
    const accepted: string[] = [];
    for (const aud of ['api', MCP, 'other']) {
      const token = await userToken({ secret: SECRET, userId: 'ada', claims: { aud } });
      const request = { rawHeaders: ['authorization', `Bearer ${token}`] } as never;
      const caller = await authenticate(request).catch(() => undefined);
      if (caller !== undefined) accepted.push(aud);
    }
    return accepted;
  };
  const base = { PARLEY_JWT_SECRET: SECRET, PARLEY_JWT_AUDIENCE: 'api' };
  const log = { info: () => undefined };
  const env = readEnv('api', { ...base, PARLEY_MCP_AUDIENCE: MCP });
  expect(await acceptedBy(createAuthentication(env, log, env.PARLEY_MCP_AUDIENCE))).toEqual([MCP]);
  expect(await acceptedBy(createAuthentication(env, log))).toEqual(['api']);
  const same = readEnv('api', base);
  expect(await acceptedBy(createAuthentication(same, log, same.PARLEY_MCP_AUDIENCE))).toEqual(['api']);
});

it('names an address of its own to a request whose host is none', () => {
  const challenge = (host: string) =>
    challengeOf({}, { url: '/', headers: { host }, remoteAddress: '', requestId: '' });
  const metadata = '/.well-known/oauth-protected-resource/run/v1/mcp';
  expect(challenge('mcp.example:8080')).toContain(`"http://mcp.example:8080${metadata}"`);
  for (const host of ['x:99999', '[:::::]', '999.999.999.999', 'x y', ''])
    expect(challenge(host)).toContain(`"http://localhost${metadata}"`);
});

it('a refusal that fails is still a reply', async () => {
  const limits = { call: async () => undefined, sent: async () => 0, body: async () => undefined };
  const faults: unknown[] = [];
  const failing = {
    ...route({
      method: 'GET',
      path: '/failing',
      proof: ANYBODY,
      handle: () => Promise.reject(new ParleyError('not_found', 'Nothing is there.')),
    }),
    refuse() {
      throw new Error('the refusal failed');
    },
  };
  const onFault = (error: unknown) => faults.push(String(error));
  const { url, stop } = await serveSurfaces(() => [{ routes: [failing] }], {
    limits: limits as never,
    onFault,
  });
  onTestFinished(stop);
  const reply = await fetch(`${url}/failing`);
  expect([reply.status, await reply.json()]).toEqual([404, expect.objectContaining({ code: 'not_found' })]);
  expect(faults).toEqual(['Error: the refusal failed']);
});

it('reads nothing for an answer over a budget', async () => {
  const calls: string[] = [];
  const engine = {
    read: async () => {
      calls.push('read');
      throw new ParleyError('unavailable', 'The store does not answer.');
    },
    answer: () => Promise.reject(new Error('unused')),
  };
  for (const id of ['no id', 'el_00AAAAAAAAAAAAAAAAAAAAAAAAAA']) {
    const admitted = Promise.reject(new ParleyError('rate_limited', 'Wait.', { retryAfterSeconds: 1 }));
    const caller = { kind: 'user', tenant: 't', userId: 'u' } as const;
    const answered = recordAnswer(engine, { caller, id, result: { action: 'accept' }, admitted });
    await expect(answered).rejects.toMatchObject({ code: 'rate_limited' });
  }
  expect(calls).toEqual([]);
});

it('shows a client nothing of an unexpected error, and reports it to the operator', async () => {
  const faults: string[] = [];
  const fail = async () => {
    throw new Error('secret of the store');
  };
  const askableBy = () => ({ reach: () => 'undeliverable' as const });
  const turns = { findOffered: fail, listOffered: fail, askableBy, content: NO_OFFERING.content };
  const url = await serveWith({
    turns: turns as unknown as McpRouteDeps['turns'],
    onFault: (error) => faults.push(String(error)),
  });
  const person = newPerson();
  const session = await beginSession(url, person);
  const replies = [
    await session.exchange(url, callMessage(1, 'hello')),
    await session.exchange(url, { jsonrpc: '2.0', id: 2, method: 'tools/list' }),
    await modernCall(url, person, 'hello'),
    await modernExchange(url, person, modern('tools/list', {})),
  ];
  for (const reply of replies) {
    expect(errorOf(reply)).toMatchObject({ code: -32603, data: { code: 'internal' } });
    expect(JSON.stringify(reply.messages)).not.toContain('secret');
  }
  expect(faults).toEqual(Array(4).fill('Error: secret of the store'));
});

it('reports errors of the SDK to the operator without what they say, and no refusals of requests', async () => {
  const faults: Error[] = [];
  const url = await serveWith({
    extend: () => {
      throw new TypeError('secret of a request');
    },
    onFault: (error) => faults.push(error as Error),
  });
  const person = newPerson();
  const list = modern('tools/list', {});
  await modernExchange(url, person, list, { 'mcp-method': 'other' });
  expect(faults).toEqual([]);
  await modernExchange(url, person, list);
  await exchange(url, initializeMessage(), person);
  expect(faults.map(({ name }) => name)).toEqual(['TypeError', 'TypeError']);
  for (const { stack } of faults) {
    expect(stack).toContain('refusals.test.ts');
    expect(stack).not.toContain('secret');
  }
});

describe('a tool of a server behind', () => {
  const DEMAND = {
    code: -32021,
    message: 'Declare sampling.',
    data: { requiredCapabilities: { sampling: {} } },
  };
  const GONE = { code: -32011, message: 'No such page.', data: { uri: 'wiki://gone', seen: 3 } };
  const paramHeaders = [
    { name: 'Region', path: ['where', 'region'] },
    { name: 'Count', path: ['count'] },
  ];
  /** Its calls end with the server's demand, and each page that is read with its refusal. */
  const serveBehind = () =>
    serveWith({}, {}, ({ backend, turns }) => ({
      ...turns,
      findOffered: async () => ({ type: 'tool', server: 'wiki', tool: 'find', paramHeaders }),
      async beginCall({ conversation: asked }) {
        const conversation = asked as RunRef;
        await backend.runs.begin({ ...turnOf(conversation), ...conversation });
        const events = [
          { type: 'tool-failed', toolCallId: 'call', message: 'It demands.', refusal: DEMAND },
          { type: 'turn-finished', reason: 'stop' },
        ] as const;
        const end = { status: 'finished', messages: [] } as const;
        await backend.runs.write(conversation, { term: 1, firstSeq: 2, events, end });
        return { ...conversation, isRepeat: false };
      },
      content: {
        ...turns.content,
        offers: { prompts: false, resources: true },
        read: () =>
          Promise.reject(new ParleyError('invalid_request', 'no', { cause: new RefusedByServer(GONE) })),
      },
    }));

  it('refuses in its own words: the code and the data reach the client', async () => {
    const url = await serveBehind();
    const person = newPerson();
    const session = await beginSession(url, person);
    const read = { uri: 'wiki://gone' };
    const named = { 'mcp-name': read.uri };
    expect(errorOf(await modernExchange(url, person, modern('resources/read', read), named))).toEqual(GONE);
    const inSession = { jsonrpc: '2.0', id: 1, method: 'resources/read', params: read };
    expect(errorOf(await session.exchange(url, inSession))).toEqual(GONE);
    const demanded = await modernExchange(url, person, modern('tools/call', { name: 'find', arguments: {} }));
    expect([demanded.status, errorOf(demanded)]).toEqual([400, DEMAND]);
    const older = await session.exchange(url, callMessage(2, 'hello'));
    expect(older.messages.at(-1)?.result).toMatchObject({ isError: true });
  });

  it.each([
    [{ where: { region: 'eu' } }, { region: 'eu' }, true],
    [{ where: { region: 'Ü' } }, { region: '=?base64?w5w=?=' }, true],
    [{ count: 42 }, { count: '42.0', region: 'unused' }, true],
    [{ where: { region: null } }, {}, true],
    [{ where: { region: 'eu' } }, {}, false],
    [{ where: { region: 'eu' } }, { region: 'us' }, false],
    [{ where: { region: 'Ü' } }, { region: '=?base64?w5w?=' }, false],
    [{ count: 42 }, { count: '41' }, false],
  ])(
    'is called with the headers that mirror its arguments alone: %j with %j [T26-24]',
    async (args, mirrored, fits) => {
      const url = await serveBehind();
      const headers = Object.fromEntries(
        Object.entries(mirrored).map(([name, value]) => [`mcp-param-${name}`, value]),
      );
      const call = modern('tools/call', { name: 'find', arguments: args });
      const reply = await modernExchange(url, newPerson(), call, headers);
      expect([reply.status, errorOf(reply)?.code]).toEqual([400, fits ? -32021 : -32020]);
    },
  );
});

it('counts a call that waits without a stream among the open streams of its user', async () => {
  const url = await serveWith({}, { userStreams: 1 });
  const person = newPerson();
  const session = await beginSession(url, person);
  const call = async (id: number, message: string) => {
    const json = { headers: { accept: 'application/json' } };
    return (await session.exchange(url, callMessage(id, message), json)).messages[0];
  };
  await call(1, 'page: waits');
  const { id } = await openQuestion(site.pods[0].engine, person);
  await session.answer(url, id, { action: 'accept' });
  const waiting = call(2, 'page: waits');
  let next = 3;
  const refused = async () => (await call(next++, `hello: ${next}`))?.error?.data?.code === 'rate_limited';
  await waitUntil(refused, { what: 'the waiting call to take the only place' });
  await finishPage(site.pods[0].engine, person, id);
  expect(textIn(await waiting)).toContain('accepted');
  expect((await call(1_000, 'hello: after'))?.result).toBeDefined();
});
