import { RESOURCE_MIME_TYPE } from '@modelcontextprotocol/ext-apps/app-bridge';
import { getUiCapability } from '@modelcontextprotocol/ext-apps/server';
import { CLIENT_CAPABILITIES_META_KEY, Server } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ServedMcp, serveMcp } from '../../harness/mcp-servers/serve-mcp.ts';
import { newPerson } from '../../harness/protocols/pods.ts';
import { openPagedChat, type Sent } from '../../harness/turns/paged-chat.ts';
import { modelOf } from '../../harness/turns/site.ts';

const PAGE = 'ui://order.html';
const CSP = {
  connectDomains: ['https://api.example.com', "'self'; script-src *", 'https:', 7],
  resourceDomains: ['https://*.example.com:8443'],
  frameDomains: 'https://example.com',
};
const WHOLE = {
  content: [
    { type: 'text' as const, text: 'Order 7 is paid.' },
    { type: 'image' as const, data: 'QUJD', mimeType: 'image/png' },
  ],
  structuredContent: { paid: true },
  _meta: { 'acme/page': { tab: 2 } },
};

let called: string[] = [];
let told: boolean[] = [];
beforeEach(() => {
  called = [];
  told = [];
});

function serverOf(name: string) {
  const server = new Server({ name, version: '1.0.0' }, { capabilities: { tools: {}, resources: {} } });
  server.setRequestHandler('tools/list', (_request, { mcpReq }) => {
    const envelope = mcpReq.envelope as Readonly<Record<string, object>> | undefined;
    const capabilities = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {};
    told.push(getUiCapability(capabilities) !== undefined);
    const tool = (tool: string, visibility: readonly string[], resourceUri = PAGE) => ({
      name: tool,
      inputSchema: { type: 'object' as const, properties: { order: { type: 'integer' } } },
      _meta: { ui: { resourceUri, visibility } },
    });
    const both = ['model', 'app'];
    return {
      tools: [
        tool('order', both),
        tool('fail', both),
        tool('other', both, 'ui://text.txt'),
        tool('refund', ['app']),
        tool('track', ['app']),
        tool('advise', ['model']),
        tool('sum', both),
        ...('elicitation' in capabilities ? [tool('amend', ['app'])] : []),
      ],
    };
  });
  server.setRequestHandler('tools/call', ({ params }) => {
    called.push(`${name} ${params.name} ${JSON.stringify(params.arguments ?? {})}`);
    return params.name === 'fail' ? { ...WHOLE, isError: true } : WHOLE;
  });
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const mimeType = uri === PAGE ? RESOURCE_MIME_TYPE : 'text/plain';
    const _meta = { ui: { csp: CSP, permissions: { camera: {}, usb: {} }, prefersBorder: true } };
    return { contents: [{ uri, mimeType, text: `<title>${name}</title>`, _meta }] };
  });
  return server;
}

let servers: Readonly<Record<'shop' | 'bank', ServedMcp>>;
beforeAll(async () => {
  servers = { shop: await serveMcp(() => serverOf('shop')), bank: await serveMcp(() => serverOf('bank')) };
});
afterAll(() => Promise.all([servers.shop.stop(), servers.bank.stop()]));

/** Calls the tool that the person names, and repeats what it heard. */
const model = modelOf(({ userText, results }) =>
  results.length > 0
    ? { text: `Heard: ${results.map(({ text }) => text).join(' & ')}` }
    : { calls: [{ name: userText, arguments: { order: 7 } }] },
);

const config = ({ pages = true, access = '' } = {}) => `models:
  scripted: { provider: openai-compatible, baseUrl: "${model.current.url}", model: scripted }
agents:
  helper:
    title: Helper
    model: scripted
    instructions: Be brief.${access}
    tools: [{ server: shop, pages: ${pages}, allow: [order, fail, other, refund, track, advise, amend] }, { server: bank }]
defaultAgent: helper
mcpServers:
  shop: { title: Shop, transport: http, url: "${servers.shop.url}", credentialScope: none, toolApprovals: { track: { ask: always } } }
  bank: { title: Bank, transport: http, url: "${servers.bank.url}", credentialScope: none }
`;

const open = () => openPagedChat(config());

describe('the page of a tool in a chat', () => {
  it('is named in the stream and the history, and read with the whole result, which no model reads', async () => {
    const { send, chat } = await open();
    const [part, ...others] = await chat('shop__order');
    expect(others).toEqual([]);
    expect(part).toMatchObject({ data: { v: 1, service: 'Shop', toolCallId: part.id } });
    const history = await (await send('chat/c/messages')).json();
    expect(history.messages.at(-1).parts).toContainEqual(part);
    const reply = await send(`chat/c/pages/${encodeURIComponent(part.data.pageId)}`);
    expect(await reply.json()).toEqual({
      page: {
        html: '<title>shop</title>',
        csp: {
          connectDomains: ['https://api.example.com'],
          resourceDomains: ['https://*.example.com:8443'],
          frameDomains: [],
          baseUriDomains: [],
        },
        permissions: ['camera'],
        prefersBorder: true,
      },
      tool: 'order',
      input: { order: 7 },
      result: WHOLE,
    });
    const read = JSON.stringify(model.current.requests.map(({ body }) => body.messages));
    expect(read).toContain('paid');
    expect(read).not.toMatch(/acme|QUJD|ui:|title|pageId|Shop/);
    expect(told).toEqual([true, false]);
  });

  it('shows a result that is an error', async () => {
    const { send, pageOf } = await open();
    const shown = await (await send(await pageOf('shop__fail'))).json();
    expect(shown.result).toEqual({ ...WHOLE, isError: true });
  });

  it.each([
    ['the client shows none', 'shop__order', {}],
    [
      'the configuration of the agent shows none of the server',
      'bank__order',
      { 'x-supports-pages': 'true' },
    ],
  ])('is not named where %s', async (_what, tool, headers) => {
    const { chat } = await open();
    expect(await chat(tool, headers)).toEqual([]);
    // The server whose pages are shown is told of that, and no other.
    expect(told.filter(Boolean)).toHaveLength(tool.startsWith('bank') ? 1 : 0);
  });

  it.each([
    ['shows no page of the server', { pages: false }, 400],
    ['admits somebody else', { access: '\n    access: { users: [somebody] }' }, 404],
  ])('is not read, and calls nothing, where the agent %s by now', async (_what, changed, refused) => {
    const { sendUnder, pageOf } = await open();
    const page = await pageOf();
    const reply = await sendUnder(config(changed), `${page}/calls`, { name: 'refund' });
    expect([reply.status, (await sendUnder(config(changed), page)).status]).toEqual([refused, 404]);
    expect(called).toHaveLength(1);
  });

  it('is nobody else’s, and no text of another type', async () => {
    const { send, pageOf } = await open();
    const page = await pageOf();
    for (const path of [page, `${page}/calls/x`, 'chat/c/pages/x', 'chat/c/pages/x~y'])
      expect((await send(path, undefined, path === page ? { as: newPerson() } : {})).status).toBe(404);
    expect((await send(await pageOf('shop__other'))).status).toBe(404);
  });
});

describe('a page in a chat', () => {
  it('calls the tools of its server that are for pages, with what the person is asked', async () => {
    const { send, pageOf, engine, person } = await open();
    const page = await pageOf();
    const call = (name: string, headers?: Sent) =>
      send(`${page}/calls`, { name, arguments: { order: 8 } }, headers);
    const done = await call('refund');
    expect([done.status, (await done.json()).result]).toEqual([200, WHOLE]);
    const asked = await call('track');
    const { callId, waits } = await asked.json();
    expect([asked.status, waits]).toEqual([
      202,
      [{ type: 'approval', data: expect.objectContaining({ status: 'pending' }) }],
    ]);
    expect(called).toHaveLength(2);
    const owner = { tenant: person.tenant, userId: person.userId };
    const [{ id } = { id: '' }] = (await engine.approvals.list({ owner, statuses: ['pending'], limit: 2 }))
      .rows;
    const response = { decision: 'approve' } as const;
    await engine.approvals.decide({ caller: { kind: 'user', ...owner }, id, response, surface: 'inbox' });
    const ended = await send(`${page}/calls/${callId}?seen=1`);
    expect([ended.status, (await ended.json()).result]).toEqual([200, WHOLE]);
    expect(called).toEqual(['shop order {"order":7}', 'shop refund {"order":8}', 'shop track {"order":8}']);
  });

  it('calls a tool that its server has for people alone who can be asked', async () => {
    const { send, pageOf } = await open();
    const page = await pageOf();
    const call = (headers?: Sent) => send(`${page}/calls`, { name: 'amend' }, headers);
    expect([(await call()).status, (await call({ 'x-supports-elicitation': 'true' })).status]).toEqual([
      400, 200,
    ]);
    expect(called.at(-1)).toBe('shop amend {}');
  });

  it.each([
    ['is for models only', 'advise'],
    ['the agent may not call', 'sum'],
    ['another server has', 'bank__order'],
    ['there is not', 'unknown'],
  ])('calls no tool that %s', async (_what, name) => {
    const { send, pageOf } = await open();
    const reply = await send(`${await pageOf()}/calls`, { name });
    expect([reply.status, (await reply.json()).code]).toEqual([400, 'invalid_request']);
    expect(called).toHaveLength(1);
  });

  it('reads no other run as one of its calls', async () => {
    const { send, pageOf } = await open();
    const page = await pageOf();
    const [turn = ''] = decodeURIComponent(page.split('/').at(-1) ?? '').split('~');
    expect((await send(`${page}/calls/${turn}`)).status).toBe(404);
  });
});
