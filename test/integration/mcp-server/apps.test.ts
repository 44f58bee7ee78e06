import { randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
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
import { modern, SHOWS_ALL } from '../../harness/mcp-clients/raw.ts';
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

const CLIENTS = {
  v1: undefined,
  'v2 (2025-11-25)': 'legacy',
  'v2 (2026-07-28)': { pin: '2026-07-28' },
} as const;

/** A stock client with what it declares. Both packages have the same methods. */
async function connected(
  mode: (typeof CLIENTS)[keyof typeof CLIENTS],
  { url, person }: { readonly url: string; readonly person: Person },
  capabilities: object,
): Promise<Client> {
  const address = new URL('/run/v1/mcp', url);
  const as = { requestInit: { headers: { authorization: `Bearer ${person.token}` } } };
  const info = { name: 'stock', version: '1.0.0' };
  if (mode === undefined) {
    const client = new OldClient(info, { capabilities });
    await client.connect(new OldTransport(address, as) as never);
    onTestFinished(() => client.close());
    return client as never;
  }
  const client = new Client(info, { capabilities, versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(address, as));
  onTestFinished(() => client.close());
  return client;
}

const pageOf = ({ _meta }: { readonly _meta?: unknown } = {}) =>
  (_meta as { readonly ui?: { readonly resourceUri?: string } } | undefined)?.ui?.resourceUri;

describe.each(Object.entries(CLIENTS))('a stock client, %s,', (_, mode) => {
  it.each([
    ['shows pages of servers is given their buttons, with what keeps them from its model', APPS, true],
    ['shows none neither sees nor calls the buttons of pages', SHOWS_ALL, false],
  ])('that %s', async (_what, capabilities, hasApps) => {
    const client = await connected(mode, await open(), capabilities);
    const { tools } = await client.listTools();
    const shared = (server: string) => [`${server}__order`, ...(hasApps ? [`${server}__refund`] : [])];
    expect(tools.map(({ name }) => name)).toEqual(['helper', ...shared('shop'), ...shared('bank')]);
    const resourceUri = at('shop', PAGE);
    expect(tools[1]?._meta).toEqual({ ui: { resourceUri }, 'acme/kind': 'bidi' });
    if (hasApps) expect(tools[2]?._meta).toEqual({ ui: { resourceUri, visibility: ['app'] } });
    for (const tool of ['refund', 'never', 'unknown']) {
      const name = `shop__${tool}`;
      const calling = client.callTool({ name, arguments: {} });
      if (hasApps && tool === 'refund')
        expect(await calling).toMatchObject({ content: [{ text: 'shop did it' }, {}] });
      else
        await expect(calling).rejects.toMatchObject({
          code: -32602,
          message: expect.stringMatching(new RegExp(`Unknown tool: ${name}$`)),
        });
    }
    expect(called).toEqual(hasApps ? ['shop refund'] : []);
  });

  it('reads each page and file from the server that named it, though another has the same address', async () => {
    const client = await connected(mode, await open(), APPS);
    const { tools } = await client.listTools();
    const uris = (await client.listResources()).resources.map(({ uri }) => uri);
    const { resourceTemplates } = await client.listResourceTemplates();
    for (const [index, server] of ['shop', 'bank'].entries()) {
      const [page, note] = [at(server, PAGE), at(server, NOTE)];
      expect(pageOf(tools.find(({ name }) => name === `${server}__order`))).toBe(page);
      const result = await client.callTool({ name: `${server}__order`, arguments: {} });
      expect(pageOf(result)).toBe(page);
      expect(result.content).toContainEqual({ type: 'resource_link', uri: note, name: 'note' });
      expect(uris).toEqual(expect.arrayContaining([page, note]));
      const other = resourceTemplates[index]?.uriTemplate.replace('{path}', 'other') ?? '';
      for (const uri of [page, note, other])
        expect((await client.readResource({ uri })).contents).toEqual([
          { uri, mimeType: 'text/html;profile=mcp-app', text: `of ${server}` },
        ]);
    }
    await expect(client.readResource({ uri: PAGE })).rejects.toThrow();
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

  it('puts nothing before the person where the client shows no pages', async () => {
    const { outcome, engine, person } = await begun('bank', {});
    expect(await outcome()).toMatchObject({ type: 'failed', message: REFUSED });
    const owner = { tenant: person.tenant, userId: person.userId };
    expect((await engine.approvals.list({ owner, limit: 1 })).rows).toEqual([]);
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
