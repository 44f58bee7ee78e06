import type { Caller } from '@parley/shared/domain/caller';
import { describe, expect, it } from 'vitest';
import { readAgentsConfig } from '../../../services/api/src/agents/config/load.ts';
import type { McpServerRef } from '../../../services/api/src/agents/mcp/calls/mcp-tools.ts';
import type { McpReadResult, McpTool } from '../../../services/api/src/agents/mcp/results.ts';
import { createMcpContent } from '../../../services/api/src/agents/tools/mcp-content.ts';
import { serverRefusalOf } from '../../../services/api/src/turns/call-result.ts';

const ADA: Caller = { kind: 'user', tenant: 'acme', userId: 'ada' };

const config = (offer: string) =>
  readAgentsConfig(
    `mcpServers:
  wiki: { title: Wiki, transport: http, url: "http://127.0.0.1:1/a", credentialScope: none }
  shop: { title: Shop, transport: http, url: "http://127.0.0.1:1/b", credentialScope: none }
  desk: { title: Desk, transport: http, url: "http://127.0.0.1:1/c", credentialScope: project, headersFromEnv: { X-Key: DESK } }
mcpOffer:
  agents: []
  tools:
${offer}
`,
    'agents.yaml',
    { DESK: 'the-key-of-the-desk' },
  ).config;

const BOTH = `    - { server: wiki, prompts: true, resources: true }
    - { server: shop, prompts: true, resources: true }`;
const UNPREFIXED = `    - { server: wiki, allow: [a], prefix: false, prompts: true }
    - { server: shop, allow: [b], prefix: false, prompts: true }`;

type Replies = Readonly<
  Record<string, (params: Readonly<Record<string, unknown>>) => McpReadResult | undefined>
>;

const read = (result: Record<string, unknown>): McpReadResult => ({ type: 'read', result });
const AWAY: McpReadResult = { type: 'unavailable', message: 'away', dispatched: 'no' };

const SERVERS: Readonly<Record<string, Replies>> = {
  wiki: {
    'prompts/list': () => read({ prompts: [{ name: 'ask', title: 'Ask the wiki' }] }),
    'prompts/get': ({ name }) =>
      read({ messages: [], description: `wiki ${name}`, ttlMs: 9, cacheScope: 'public' }),
    'resources/list': () => read({ resources: [{ uri: 'wiki://start', name: 'Start' }] }),
    'resources/templates/list': () =>
      read({ resourceTemplates: [{ uriTemplate: 'wiki://page/{id}', name: 'A page' }] }),
    'resources/read': ({ uri }) =>
      read({ contents: [{ uri, text: 'wiki' }], nextCursor: 'secret', requestState: 'secret' }),
    'completion/complete': ({ ref }) => read({ completion: { values: [JSON.stringify(ref)] } }),
  },
  shop: {
    'prompts/list': ({ cursor }) =>
      cursor === undefined
        ? read({ prompts: [{ name: 'ask' }], nextCursor: 'more' })
        : read({ prompts: [{ name: 'buy' }] }),
    'prompts/get': ({ name }) => read({ messages: [], description: `shop ${name}` }),
    'resources/list': () => read({ resources: [{ uri: 'shop://cart', name: 'Cart' }] }),
    'resources/templates/list': () => ({ type: 'absent' }),
    'resources/read': ({ uri }) => read({ contents: [{ uri, text: 'shop' }] }),
  },
};

function contentOf(offer: string, changed: Readonly<Record<string, Replies>> = {}, caller = ADA) {
  const content = createMcpContent({
    config: config(offer),
    named: {
      async list(server) {
        const meta = { ui: { resourceUri: `ui://${server}/page` } };
        return { isKnown: true, hasFailed: false, tools: [{ meta } as unknown as McpTool] };
      },
      watch: async () => ({ type: 'absent' }),
      async read(server, _reader, send) {
        const replies = { ...SERVERS[server], ...changed[server] };
        let reply: McpReadResult | undefined;
        const ref = {
          read: async (method: string, params: Readonly<Record<string, unknown>>) => {
            const find = replies[method];
            reply = find === undefined ? { type: 'absent' } : find(params);
            return reply ?? { type: 'absent' };
          },
        } as unknown as McpServerRef;
        await send(ref);
        return reply as never;
      },
    },
  });
  const reader = {
    caller,
    principal: { tenant: 'acme', userId: 'ada' },
    signal: new AbortController().signal,
  };
  type Request = Parameters<typeof content.read>[1];
  const resultOf = async (request: Request) => {
    const reply = await content.read(reader, request);
    return reply?.type === 'read' ? reply.result : reply;
  };
  return {
    content: {
      ...content,
      getPrompt: (_: typeof reader, name: string, args: unknown) =>
        resultOf({ method: 'prompts/get', name, arguments: args }),
      readResource: (_: typeof reader, uri: string) => resultOf({ method: 'resources/read', uri }),
    },
    reader,
  };
}

describe('prompts and resources of servers that are offered', () => {
  it('are looked for in one list for all that are named at once', async () => {
    let lists = 0;
    const shop: Replies = {
      'resources/list': () => {
        lists += 1;
        return read({ resources: [{ uri: 'shop://cart', name: 'Cart' }] });
      },
    };
    const { content, reader } = contentOf(BOTH, { shop });
    const named = Array.from({ length: 100 }, (_, at) => `shop://${at}`);
    const found = await Promise.all(
      [...named, 'shop://cart'].map((uri) =>
        content.findRead(
          { ...reader, signal: new AbortController().signal },
          { method: 'resources/read', uri },
        ),
      ),
    );
    expect(found.filter((one) => one !== undefined)).toMatchObject([{ server: 'shop' }]);
    expect(lists).toBe(1);
    await content.listResources(reader);
    expect(lists).toBe(2);
  });

  it('are listed of all servers, prompts under a name that has the server, over all pages', async () => {
    const { content, reader } = contentOf(BOTH);
    expect(content.offers).toEqual({ prompts: true, resources: true });
    expect(await content.listPrompts(reader)).toEqual([
      { name: 'wiki__ask', title: 'Ask the wiki' },
      { name: 'shop__ask' },
      { name: 'shop__buy' },
    ]);
    expect((await content.listResources(reader)).map(({ uri }) => uri)).toEqual([
      'wiki://wiki~start',
      'shop://shop~cart',
    ]);
    expect((await content.listTemplates(reader)).map(({ uriTemplate }) => uriTemplate)).toEqual([
      'wiki://wiki~page/{id}',
    ]);
  });

  it('are read from the server that has them, without its advice on caching and what it alone reads', async () => {
    const { content, reader } = contentOf(BOTH);
    expect(await content.getPrompt(reader, 'wiki__ask', {})).toEqual({
      messages: [],
      description: 'wiki ask',
    });
    expect(await content.getPrompt(reader, 'shop__buy', {})).toMatchObject({ description: 'shop buy' });
    expect(await content.getPrompt(reader, 'other__ask', {})).toBeUndefined();
    for (const [uri, text] of [
      ['wiki://start', 'wiki'],
      ['wiki://page/7', 'wiki'],
      ['shop://cart', 'shop'],
      ['wiki://wiki~page/7', 'wiki'],
      ['wiki://shop~page/7', 'shop'],
      ['shop://shop~unknown', 'shop'],
    ] as const)
      expect(await content.readResource(reader, uri)).toEqual({ contents: [{ uri, text }] });
    for (const uri of ['shop://unknown', 'shop://other~cart'])
      expect(await content.readResource(reader, uri)).toBeUndefined();
  });

  it('are not read by an address that several servers have, unless it names one', async () => {
    const page = { resources: [{ uri: 'ui://page', name: 'Page' }] };
    const alike = { 'resources/list': () => read(page) };
    const { content, reader } = contentOf(BOTH, { wiki: alike, shop: alike });
    expect(await content.readResource(reader, 'ui://page')).toBeUndefined();
    for (const text of ['wiki', 'shop']) {
      const uri = `ui://${text}~page`;
      expect(await content.readResource(reader, uri)).toEqual({ contents: [{ uri, text }] });
    }
  });

  it('are read with the credential of the project only where their server lists them', async () => {
    const { content, reader } = contentOf('    - { server: desk, resources: true }', {
      desk: SERVERS.wiki ?? {},
    });
    // A page need not be listed: a tool names it.
    for (const own of ['wiki://start', 'wiki://page/7', 'ui://desk/page'])
      for (const uri of [own, own.replace('//', '//desk~')])
        expect(await content.readResource(reader, uri)).toEqual({ contents: [{ uri, text: 'wiki' }] });
    for (const own of ['file:///etc/passwd', 'ui://desk/other', 'ui://wiki/page'])
      for (const uri of [own, own.replace('//', '//desk~')])
        expect(await content.readResource(reader, uri)).toBeUndefined();
    // A server without a credential of the project may have links to what it does not list.
    const open = contentOf('    - { server: wiki, resources: true }');
    expect(await open.content.readResource(open.reader, 'wiki://linked')).toMatchObject({ contents: [{}] });
  });

  it('are left out where a name or an address cannot be seen whole, which is sent back', async () => {
    const { content, reader } = contentOf(BOTH, {
      wiki: {
        'prompts/list': () => read({ prompts: [{ name: 'a\u202e' }, { name: 'b' }] }),
        'resources/list': () =>
          read({
            resources: [
              { uri: 'a:\u200b', name: 'A' },
              { uri: 'b:', name: 'B\u202e' },
            ],
          }),
      },
      shop: {},
    });
    expect((await content.listPrompts(reader)).map(({ name }) => name)).toEqual([
      'wiki__b',
      'shop__ask',
      'shop__buy',
    ]);
    expect(await content.listResources(reader)).toEqual([
      { uri: 'b:wiki~', name: 'B' },
      { uri: 'shop://shop~cart', name: 'Cart' },
    ]);
  });

  it('are completed by their server, under its own name for them', async () => {
    const { content, reader } = contentOf(BOTH);
    const argument = { argument: { name: 'a', value: 'b' } };
    const complete = (ref: Parameters<typeof content.complete>[1]) => content.complete(reader, ref, argument);
    expect(await complete({ type: 'ref/prompt', name: 'wiki__ask' })).toEqual({
      completion: { values: ['{"type":"ref/prompt","name":"ask"}'] },
    });
    for (const uri of ['wiki://page/{id}', 'wiki://wiki~page/{id}'])
      expect(await complete({ type: 'ref/resource', uri })).toEqual({
        completion: { values: ['{"type":"ref/resource","uri":"wiki://page/{id}"}'] },
      });
    expect(await complete({ type: 'ref/prompt', name: 'shop__buy' })).toEqual({ completion: { values: [] } });
  });

  it('never come from another server while their own cannot be reached', async () => {
    const away = { wiki: { ...SERVERS.wiki, 'prompts/list': () => AWAY, 'resources/list': () => AWAY } };
    const unprefixed = contentOf(UNPREFIXED, away);
    expect(await unprefixed.content.listPrompts(unprefixed.reader)).toEqual([
      { name: 'ask' },
      { name: 'buy' },
    ]);
    await expect(unprefixed.content.getPrompt(unprefixed.reader, 'ask', {})).rejects.toMatchObject({
      code: 'unavailable',
    });
    const both = contentOf(BOTH, away);
    await expect(both.content.readResource(both.reader, 'shop://cart')).rejects.toMatchObject({
      code: 'unavailable',
    });
    const here = contentOf(UNPREFIXED);
    expect(await here.content.getPrompt(here.reader, 'ask', {})).toMatchObject({ description: 'wiki ask' });
  });

  it('are nothing for a caller without access or account, or where they are not offered', async () => {
    const restricted = contentOf(
      '    - { server: wiki, prompts: true, resources: true, access: { tenants: [other] } }',
    );
    const { content, reader } = restricted;
    expect(await content.listPrompts(reader)).toEqual([]);
    expect(await content.getPrompt(reader, 'wiki__ask', {})).toBeUndefined();
    expect(await content.readResource(reader, 'wiki://start')).toBeUndefined();
    const tools = contentOf('    - { server: wiki }');
    expect(tools.content.offers).toEqual({ prompts: false, resources: false });
    expect(await tools.content.getPrompt(tools.reader, 'wiki__ask', {})).toBeUndefined();
    const unconnected = contentOf(BOTH, {
      wiki: { 'prompts/list': () => undefined, 'prompts/get': () => undefined },
    });
    expect(await unconnected.content.getPrompt(unconnected.reader, 'wiki__ask', {})).toBeUndefined();
  });

  it('refuse what the server refuses, and what would ask the person', async () => {
    const refusal = { code: -32021, message: 'no', data: { requiredCapabilities: {} } };
    const refusals: readonly McpReadResult[] = [
      { type: 'refused', message: 'The server refused: no', refusal },
      { type: 'input_required', message: 'asks', refusal },
      { type: 'input_required', message: 'asks' },
    ];
    for (const refused of refusals) {
      const { content, reader } = contentOf(BOTH, { wiki: { 'prompts/get': () => refused } });
      const error: unknown = await content.getPrompt(reader, 'wiki__ask', {}).catch((thrown) => thrown);
      expect(error).toMatchObject({ code: 'invalid_request' });
      expect(serverRefusalOf(error)).toEqual('refusal' in refused ? refusal : undefined);
    }
  });
});
