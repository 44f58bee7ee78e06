import { randomUUID } from 'node:crypto';
import { Server } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { aiSdkRoutes } from '../../../services/api/src/surfaces/ai-sdk/routes.ts';
import { openAiRoutes } from '../../../services/api/src/surfaces/openai/routes.ts';
import { createCallResult } from '../../../services/api/src/turns/call-result.ts';
import { followTurn } from '../../../services/api/src/turns/follow.ts';
import { wireEraseConversation } from '../../../services/api/src/wiring/erase-user.ts';
import { a2aSurface } from '../../harness/a2a/setup.ts';
import { AG_UI_SERVING } from '../../harness/ag-ui/site.ts';
import { dispatchOn } from '../../harness/engines/engines.ts';
import { callLimitsOn } from '../../harness/http/call-limits.ts';
import {
  beginSession,
  errorOf,
  modern,
  modernExchange,
  type RpcReply,
  SHOWS_ALL,
} from '../../harness/mcp-clients/raw.ts';
import { mcpSurface } from '../../harness/mcp-clients/setup.ts';
import { type ServedMcp, serveMcp } from '../../harness/mcp-servers/serve-mcp.ts';
import { newPerson, type Person } from '../../harness/protocols/pods.ts';
import { authenticateByName } from '../../harness/protocols/served.ts';
import { startPersonalPod } from '../../harness/turns/configured.ts';
import { serveSurfaces } from '../../harness/turns/serve.ts';
import { modelOf } from '../../harness/turns/site.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const PAGE = 'ui://widgets/order.html';
const NOTE = 'file:///note';
const UI = { resourceUri: PAGE };
/** An address as clients of Parley see it. */
const at = (server: string, uri: string) => uri.replace('://', `://${server}~`);
const tool = (name: string, _meta: Record<string, unknown>) => ({
  name,
  inputSchema: { type: 'object' as const },
  _meta,
});
/** A tool for all, the button of a page, and a tool for nobody. */
const TOOLS = [
  tool('order', { ui: UI, 'acme/kind': 'bid\u202ei' }),
  tool('refund', { ui: { ...UI, visibility: ['app'] } }),
  tool('never', { ui: { visibility: 'everybody' } }),
];

/** What servers were called for. */
let called: string[] = [];
beforeEach(() => {
  called = [];
});

/** A server whose addresses another server has, too. */
function serverOf(name: string) {
  const server = new Server({ name, version: '1.0.0' }, { capabilities: { tools: {}, resources: {} } });
  server.setRequestHandler('tools/list', () => ({ tools: TOOLS }));
  server.setRequestHandler('tools/call', ({ params }) => {
    called.push(`${name} ${params.name}`);
    const content = [
      { type: 'text' as const, text: `${name} did it` },
      { type: 'resource_link' as const, uri: NOTE, name: 'note' },
    ];
    return { content, _meta: { ui: UI } };
  });
  server.setRequestHandler('resources/list', () => ({
    resources: [PAGE, NOTE].map((uri) => ({ uri, name: uri })),
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ uriTemplate: 'file:///{path}', name: 'a file' }],
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => ({
    contents: [{ uri, mimeType: 'text/html;profile=mcp-app', text: `of ${name}` }],
  }));
  return server;
}

let servers: Readonly<Record<'shop' | 'bank', ServedMcp>>;
beforeAll(async () => {
  servers = { shop: await serveMcp(() => serverOf('shop')), bank: await serveMcp(() => serverOf('bank')) };
});
afterAll(() => Promise.all([servers.shop.stop(), servers.bank.stop()]));

/** The model presses the button whose name it has guessed, and repeats what it heard. */
const model = modelOf(({ userText, results }) =>
  results.length > 0
    ? { text: `Heard: ${results.map(({ text }) => text).join(' & ')}` }
    : { calls: [{ name: userText.split(' ').at(-1) ?? '', arguments: {} }] },
);

const config = () => `models:
  scripted: { provider: openai-compatible, baseUrl: "${model.current.url}", model: scripted }
agents:
  helper: { title: Helper, model: scripted, instructions: Be brief., tools: [{ server: shop }] }
  keeper: { title: Keeper, model: scripted, instructions: Be brief., tools: [{ server: tracker }] }
defaultAgent: helper
mcpServers:
  shop: { title: Shop, transport: http, url: "${servers.shop.url}", credentialScope: none }
  bank: { title: Bank, transport: http, url: "${servers.bank.url}", credentialScope: none, toolApprovals: { refund: { ask: always } } }
  tracker:
    title: Tracker
    transport: http
    url: "${servers.shop.url}"
    credentialScope: user
    connector: account
    announcedTools: [{ name: refund, description: Refunds., inputSchema: { type: object } }]
connectors:
  account: { type: api_key, title: Tracker, instructions: Look around. }
mcpOffer:
  agents: [{ agent: helper }]
  tools: [{ server: shop, resources: true }, { server: bank, resources: true }]
`;

/** One pod with all its doors, and a person. */
async function open() {
  const pod = startPersonalPod({ yaml: config() });
  const { backend, engine, turns } = pod;
  const limits = callLimitsOn(backend.limits);
  const running = { backend, engine, turns };
  const eraseConversation = wireEraseConversation({ backend, engine, deliveries: dispatchOn(backend) });
  const { url, close } = await serveSurfaces({
    surfaces: [
      aiSdkRoutes({ engine, limits, turns, eraseConversation }),
      openAiRoutes({ engine, limits, turns, steps: 'live' }),
      ...[mcpSurface(), a2aSurface({}), AG_UI_SERVING.surfaceOf].map((of) => of(running, limits)),
    ],
    authenticate: authenticateByName,
    limits,
  });
  onTestFinished(close);
  return { ...pod, url, person: newPerson() };
}

const PRESS = 'press shop__refund';
const REFUSED = 'There is no such tool. Call only tools that you were given.';
const user = { id: 'm', role: 'user', content: PRESS };

describe('a tool that is for pages only', () => {
  it.each([
    ['/run/api/chat', { id: 'c', messages: [{ ...user, parts: [{ type: 'text', text: PRESS }] }] }],
    ['/run/v1/chat/completions', { model: 'helper', messages: [user] }],
    ['/run/v1/responses', { model: 'helper', input: PRESS }],
    [
      '/run/ag-ui/helper',
      { threadId: 't', runId: 'r', messages: [user], tools: [], context: [], state: {}, forwardedProps: {} },
    ],
    [
      '/run/a2a/helper',
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'SendMessage',
        params: { message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: PRESS }] } },
      },
    ],
    ['/run/v1/mcp', modern('tools/call', { name: 'helper', arguments: { message: PRESS } }).body],
  ])('is not given to a model, and not called for it, through %s', async (path, body) => {
    const { url, person } = await open();
    const before = model.current.requests.length;
    const headers = {
      authorization: `Bearer ${person.token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(path.endsWith('mcp') && modern('tools/call', { name: 'helper' }).headers),
      ...(path.includes('a2a') && { 'a2a-version': '1.0' }),
    };
    const reply = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(await reply.text()).toContain('Heard: ');
    const [first, second] = model.current.requests.slice(before).map((request) => request.body);
    expect(first?.tools?.map((one) => one.function.name)).toEqual(['shop__order']);
    expect(second?.messages.at(-1)).toMatchObject({ role: 'tool', content: REFUSED });
    expect(called).toEqual([]);
  });

  it('is not called either where the configuration announced it before its server was asked', async () => {
    const { person, turns, engine, give, backend } = await open();
    const { tenant, userId } = person;
    const conversation = { tenant, userId, conversationId: 'c' };
    const support = { form: true, url: true };
    const input = [{ role: 'user' as const, content: 'press tracker__refund' }];
    const run = await turns.begin({ conversation, agent: 'keeper', input, before: [], support });
    const owner = { tenant, userId };
    const asked = await waitUntil(async () => (await engine.list({ owner, limit: 1 })).rows[0], {
      what: 'the question for the account',
    });
    await give(owner, asked.id, { kind: 'api_key', value: 'a-key-of-the-person' });
    await waitUntil(async () => (await backend.runs.standing(run))?.status === 'finished', {
      what: 'the end',
    });
    const last = model.current.requests.at(-1)?.body;
    expect(last?.messages.at(-1)).toMatchObject({ content: expect.stringContaining(REFUSED) });
    expect(last?.tools?.map((one) => one.function.name)).toEqual(['tracker__order']);
    expect(called).toEqual([]);
  });
});

const APPS = {
  ...SHOWS_ALL,
  extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
};

type Send = (method: string, params?: Record<string, unknown>) => Promise<RpcReply>;
const SENDERS: Readonly<
  Record<string, (url: string, person: Person, capabilities: object) => Promise<Send>>
> = {
  async '2025-11-25'(url, person, capabilities) {
    const session = await beginSession(url, person, capabilities);
    return (method, params = {}) =>
      session.exchange(url, { jsonrpc: '2.0', id: randomUUID(), method, params });
  },
  async '2026-07-28'(url, person, capabilities) {
    return (method, params = {}) => modernExchange(url, person, modern(method, params, capabilities));
  },
};

/** What a client reads of the results of these servers. */
interface Result {
  readonly tools: readonly { readonly name: string; readonly _meta: Called['_meta'] }[];
  readonly resources: readonly { readonly uri: string }[];
  readonly resourceTemplates: readonly { readonly uriTemplate: string }[];
  readonly contents: unknown;
}
interface Called {
  readonly content: readonly { readonly uri?: string }[];
  readonly _meta: { readonly ui: { readonly resourceUri: string } };
}

const resultOf = ({ messages }: RpcReply) => messages.at(-1)?.result as unknown as Result & Called;

describe.each(Object.entries(SENDERS))('an MCP client of %s', (_, senderOf) => {
  it.each([
    ['shows pages of servers is given their buttons, with what keeps them from its model', APPS, true],
    ['shows none neither sees nor calls the buttons of pages', SHOWS_ALL, false],
  ])('that %s', async (_what, capabilities, hasApps) => {
    const { url, person } = await open();
    const send = await senderOf(url, person, capabilities);
    const { tools } = resultOf(await send('tools/list'));
    const names = tools.map(({ name }) => name);
    const shared = (server: string) => [`${server}__order`, ...(hasApps ? [`${server}__refund`] : [])];
    expect(names).toEqual(['helper', ...shared('shop'), ...shared('bank')]);
    const resourceUri = at('shop', PAGE);
    expect(tools[1]?._meta).toEqual({ ui: { resourceUri }, 'acme/kind': 'bidi' });
    if (hasApps) expect(tools[2]?._meta).toEqual({ ui: { resourceUri, visibility: ['app'] } });
    const pressed = await send('tools/call', { name: 'shop__refund', arguments: {} });
    expect(called).toEqual(hasApps ? ['shop refund'] : []);
    for (const name of hasApps ? ['shop__never'] : ['shop__never', 'shop__refund', 'shop__unknown'])
      expect(errorOf(await send('tools/call', { name, arguments: {} }))).toMatchObject({
        code: -32602,
        message: `Unknown tool: ${name}`,
      });
    if (!hasApps) expect(errorOf(pressed)).toMatchObject({ code: -32602 });
    else expect(resultOf(pressed)).toMatchObject({ content: [{ text: 'shop did it' }, {}] });
  });

  it('reads each page and file from the server that named it, though another has the same address', async () => {
    const { url, person } = await open();
    const send = await senderOf(url, person, APPS);
    const { tools } = resultOf(await send('tools/list'));
    const { resources } = resultOf(await send('resources/list'));
    const { resourceTemplates } = resultOf(await send('resources/templates/list'));
    const uris = resources.map(({ uri }) => uri);
    for (const server of ['shop', 'bank']) {
      const { _meta } = tools.find(({ name }) => name === `${server}__order`) ?? {};
      expect(_meta?.ui.resourceUri).toBe(at(server, PAGE));
      const called = resultOf(await send('tools/call', { name: `${server}__order`, arguments: {} }));
      expect([called._meta.ui.resourceUri, called.content[1]?.uri]).toEqual([
        at(server, PAGE),
        at(server, NOTE),
      ]);
      const { uriTemplate = '' } = resourceTemplates[server === 'shop' ? 0 : 1] ?? {};
      expect(uris).toEqual(expect.arrayContaining([at(server, PAGE), at(server, NOTE)]));
      for (const uri of [at(server, PAGE), at(server, NOTE), uriTemplate.replace('{path}', 'other')])
        expect(resultOf(await send('resources/read', { uri })).contents).toEqual([
          { uri, mimeType: 'text/html;profile=mcp-app', text: `of ${server}` },
        ]);
    }
    expect(errorOf(await send('resources/read', { uri: PAGE }))).toBeDefined();
  });
});

describe('a call of a button', () => {
  const begun = async (server: string, support: object) => {
    const pod = await open();
    const { tenant, userId } = pod.person;
    const run = await pod.turns.beginCall({
      conversation: { tenant, userId, conversationId: 'c' },
      target: { server, tool: 'refund' },
      arguments: {},
      support: { form: true, url: true, ...support },
    });
    const outcome = async () => {
      const result = createCallResult();
      const signal = AbortSignal.timeout(60_000);
      for await (const event of await followTurn(pod, run, { signal })) if (result.take(event)) break;
      return result.outcome;
    };
    return { ...pod, outcome };
  };

  it('is refused where it begins before the list of its server is known, without pages', async () => {
    const { outcome } = await begun('shop', {});
    expect(await outcome()).toMatchObject({ type: 'failed', message: expect.stringContaining(REFUSED) });
    expect(called).toEqual([]);
  });

  it('needs the approval that the configuration demands', async () => {
    const { outcome, engine, person } = await begun('bank', { apps: true });
    const owner = { tenant: person.tenant, userId: person.userId };
    const find = async () =>
      (await engine.approvals.list({ owner, statuses: ['pending'], limit: 1 })).rows[0];
    const { id } = await waitUntil(find, { what: 'the approval' });
    expect(called).toEqual([]);
    const response = { decision: 'approve' } as const;
    await engine.approvals.decide({ caller: { kind: 'user', ...owner }, id, response, surface: 'inbox' });
    expect(await outcome()).toMatchObject({ type: 'result' });
    expect(called).toEqual(['bank refund']);
  });
});
