import { Client, InMemoryTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { App } from '@modelcontextprotocol/ext-apps';
import { AppBridge, RESOURCE_MIME_TYPE } from '@modelcontextprotocol/ext-apps/app-bridge';
import { EXTENSION_ID, getUiCapability } from '@modelcontextprotocol/ext-apps/server';
import { CLIENT_CAPABILITIES_META_KEY, Server } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { callLimitsOn } from '../../harness/http/call-limits.ts';
import { SHOWS_ALL } from '../../harness/mcp-clients/raw.ts';
import { mcpSurface } from '../../harness/mcp-clients/setup.ts';
import { type ServedMcp, serveMcp } from '../../harness/mcp-servers/serve-mcp.ts';
import { newPerson } from '../../harness/protocols/pods.ts';
import { authenticateByName } from '../../harness/protocols/served.ts';
import { startPersonalPod } from '../../harness/turns/configured.ts';
import { serveSurfaces } from '../../harness/turns/serve.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const PAGE = 'ui://page.html';
const HTML = '<!doctype html><title>Order</title>';
const CSP = { connectDomains: ['https://api.example.com'], resourceDomains: ['https://*.example.com'] };
const PAGE_META = { ui: { csp: CSP, permissions: { clipboardWrite: {} }, prefersBorder: true } };
const DATA = { total: 3, lines: [{ id: 'a', note: null }] };
/** A skill (SEP-2640): hosts check the digests of its files, in which anything may stand. */
const SKILL: Readonly<Record<string, string>> = {
  'skill://accounting/SKILL.md': '---\nname: accounting\n---\r\n\u200bSee [forms](forms/A.md).  \n',
  'skill://accounting/forms/A.md': '\ufeff\u202e\u0000',
};

/** What servers were called for. */
let called: string[] = [];
beforeEach(() => {
  called = [];
});

/** A server whose tools are for whom it says, in the order of `names`: those of a model, of a page, of both. */
function serverOf(name: string, names: Readonly<Record<string, readonly ('model' | 'app')[]>>) {
  const server = new Server({ name, version: '1.0.0' }, { capabilities: { tools: {}, resources: {} } });
  server.setRequestHandler('tools/list', (_request, { mcpReq }) => {
    const envelope = mcpReq.envelope as Readonly<Record<string, object>> | undefined;
    const declared = getUiCapability(envelope?.[CLIENT_CAPABILITIES_META_KEY]);
    if (!declared?.mimeTypes?.includes(RESOURCE_MIME_TYPE)) return { tools: [] };
    const tools = Object.entries(names).map(([tool, visibility]) => ({
      name: tool,
      inputSchema: { type: 'object' as const },
      _meta: { ui: { resourceUri: PAGE, visibility: [...visibility] } },
    }));
    return { tools };
  });
  server.setRequestHandler('tools/call', ({ params }) => {
    called.push(`${name} ${params.name}`);
    const content = [{ type: 'text' as const, text: 'Three.' }];
    return { content, structuredContent: DATA, _meta: { 'acme/page': { tab: 2 } } };
  });
  server.setRequestHandler('resources/list', () => ({
    resources: Object.keys(SKILL).map((uri) => ({ uri, name: 'accounting', mimeType: 'text/markdown' })),
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => ({
    contents: [
      uri === PAGE
        ? { uri, mimeType: RESOURCE_MIME_TYPE, text: HTML, _meta: PAGE_META }
        : { uri, mimeType: 'text/markdown', text: SKILL[uri] ?? '' },
    ],
  }));
  return server;
}

const SHOP = { order: ['model', 'app'], refund: ['app'], track: ['app'], advise: ['model'] } as const;
const BANK = { refund: ['app'], pay: ['app'] } as const;
const HIDDEN = { hide: ['app'] } as const;
let servers: Readonly<Record<'shop' | 'bank' | 'mute', ServedMcp>>;
beforeAll(async () => {
  servers = {
    shop: await serveMcp(() => serverOf('shop', SHOP)),
    bank: await serveMcp(() => serverOf('bank', BANK)),
    mute: await serveMcp(() => serverOf('mute', HIDDEN)),
  };
});
afterAll(() => Promise.all(Object.values(servers).map((one) => one.stop())));

const config = (more: string) => `models: {}
agents: {}
mcpServers:
  shop: { title: Shop, transport: http, url: "${servers.shop.url}", credentialScope: none, toolApprovals: { track: { ask: always } } }
  bank: { title: Bank, transport: http, url: "${servers.bank.url}", credentialScope: none }
  mute: { title: Mute, transport: http, url: "${servers.mute.url}", credentialScope: none }
  gone: { title: Gone, transport: http, url: "http://127.0.0.1:1/mcp", credentialScope: none }
  desk:
    title: Desk
    transport: http
    url: "${servers.shop.url}"
    credentialScope: user
    connector: account
connectors:
  account: { type: api_key, title: Desk, instructions: Look around. }
mcpOffer:
  tools: [{ server: shop, resources: true }, { server: bank, resources: true }, { server: mute }${more}]
`;

const APPS = {
  ...SHOWS_ALL,
  extensions: { [EXTENSION_ID]: { mimeTypes: [RESOURCE_MIME_TYPE] } },
};

/** A stock client of a pod. */
async function open({
  capabilities = APPS,
  more = '',
  mode = { pin: '2026-07-28' },
}: {
  capabilities?: object;
  more?: string;
  mode?: 'legacy' | { pin: string };
} = {}) {
  const { backend, engine, turns } = startPersonalPod({ yaml: config(more) });
  const limits = callLimitsOn(backend.limits);
  const surfaces = [mcpSurface()({ backend, engine, turns }, limits)];
  const { url, close } = await serveSurfaces({ surfaces, authenticate: authenticateByName, limits });
  onTestFinished(close);
  const person = newPerson();
  const client = new Client(
    { name: 'stock', version: '1.0.0' },
    { capabilities, versionNegotiation: { mode } },
  );
  const requestInit = { headers: { authorization: `Bearer ${person.token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/run/v1/mcp', url), { requestInit }));
  onTestFinished(() => client.close());
  return { client, engine, owner: { tenant: person.tenant, userId: person.userId } };
}

/** A view of a stock host, which passes on what the view calls. */
async function viewOf(client: Client): Promise<App> {
  const [ofHost, ofView] = InMemoryTransport.createLinkedPair();
  const capabilities = { serverTools: {}, serverResources: {} };
  const bridge = new AppBridge(client as never, { name: 'host', version: '1.0.0' }, capabilities);
  await bridge.connect(ofHost);
  onTestFinished(() => bridge.close());
  const app = new App({ name: 'view', version: '1.0.0' }, {}, { autoResize: false });
  await app.connect(ofView);
  return app;
}

const call = (name: string) => ({ name, arguments: {} });

describe.each(['legacy', { pin: '2026-07-28' }] as const)('a host of revision %s', (mode) => {
  it('gets the page of a server with what it needs to show it, and results whole', async () => {
    const { client } = await open({ mode });
    const { tools } = await client.listTools();
    const uri = `ui://shop~page.html`;
    expect(tools.find(({ name }) => name === 'shop__order')?._meta).toMatchObject({
      ui: { resourceUri: uri },
    });
    const { contents } = await client.readResource({ uri });
    expect(contents).toEqual([{ uri, mimeType: RESOURCE_MIME_TYPE, text: HTML, _meta: PAGE_META }]);
    expect(await client.callTool(call('shop__order'))).toMatchObject({
      content: [{ type: 'text', text: 'Three.' }],
      structuredContent: DATA,
      _meta: { 'acme/page': { tab: 2 } },
    });
  });
});

describe('a skill of a server', () => {
  it('passes as resources whose bytes and relative addresses are those of its server', async () => {
    const { client } = await open({ capabilities: {} });
    const uris = (await client.listResources()).resources.map(({ uri }) => uri);
    for (const server of ['shop', 'bank'])
      for (const [own, text] of Object.entries(SKILL)) {
        const uri = own.replace('://', `://${server}~`);
        expect(uris).toContain(uri);
        expect(
          new URL(
            'forms/A.md',
            uris.find((one) => one.endsWith('SKILL.md')),
          ).href,
        ).toContain('~accounting/forms');
        expect((await client.readResource({ uri })).contents).toEqual([
          { uri, mimeType: 'text/markdown', text },
        ]);
      }
  });
});

describe('a server behind Parley', () => {
  it.each([
    ['shows pages', APPS, ['shop__order', 'shop__advise']],
    ['shows none', SHOWS_ALL, []],
  ])('is told of a client that %s', async (_what, capabilities, expected) => {
    const { client } = await open({ capabilities });
    const { tools } = await client.listTools();
    const forModels = tools.filter(({ _meta }) => JSON.stringify(_meta).includes('model'));
    expect(forModels.map(({ name }) => name)).toEqual(expected);
  });
});

describe('a view', () => {
  it('calls the tool of its server by the name that its server gave it', async () => {
    const { client } = await open();
    const view = await viewOf(client);
    expect(await view.callServerTool(call('order'))).toMatchObject({ structuredContent: DATA });
    expect(await view.callServerTool(call('pay'))).toMatchObject({ structuredContent: DATA });
    expect(called).toEqual(['shop order', 'bank pay']);
  });

  it.each([
    ['which two servers have', 'refund'],
    ['that is for models only', 'advise'],
    ['of a server whose pages are not offered', 'hide'],
    ['that no server has', 'unknown'],
  ])('calls no tool %s', async (_what, name) => {
    const { client } = await open();
    const view = await viewOf(client);
    await expect(view.callServerTool(call(name))).rejects.toThrow(`Unknown tool: ${name}`);
    expect(called).toEqual([]);
  });

  it('calls nothing by such a name while a server cannot be asked whose tool it may be', async () => {
    const { client } = await open({ more: ', { server: gone, resources: true }' });
    const view = await viewOf(client);
    await expect(view.callServerTool(call('pay'))).rejects.toThrow('cannot be reached');
    await view.callServerTool(call('bank__pay'));
    expect(called).toEqual(['bank pay']);
  });

  it.each([
    ['', ', { server: gone, resources: true, allow: [other] }'],
    ['and where a person has no account', ', { server: desk, resources: true }'],
  ])('calls it where a server cannot have it %s', async (_what, more) => {
    const { client } = await open({ more });
    await (await viewOf(client)).callServerTool(call('pay'));
    expect(called).toEqual(['bank pay']);
  });

  it('is given the result of a tool once its person has approved the call', async () => {
    const { client, engine, owner } = await open();
    const view = await viewOf(client);
    const calling = view.callServerTool(call('track'));
    const find = async () =>
      (await engine.approvals.list({ owner, statuses: ['pending'], limit: 1 })).rows[0];
    const { id } = await waitUntil(find, { what: 'the approval' });
    expect(called).toEqual([]);
    const response = { decision: 'approve' } as const;
    await engine.approvals.decide({ caller: { kind: 'user', ...owner }, id, response, surface: 'inbox' });
    expect(await calling).toMatchObject({ structuredContent: DATA });
    expect(called).toEqual(['shop track']);
  });

  it('has such names only at a client that shows pages', async () => {
    const { client } = await open({ capabilities: SHOWS_ALL });
    await expect((await viewOf(client)).callServerTool(call('pay'))).rejects.toThrow('Unknown tool: pay');
    expect(called).toEqual([]);
  });
});
