import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createScoping,
  readAddress,
  scopedAddress,
  serverNamed,
  withPages,
} from '../../../../services/api/src/agents/mcp/calls/addresses.ts';
import { createToolOffer } from '../../../../services/api/src/agents/mcp/calls/tool-offer.ts';
import { DEFAULT_MCP_LIMITS } from '../../../../services/api/src/agents/mcp/limits.ts';
import { isVisible, visibilityOf } from '../../../../services/api/src/agents/mcp/visibility.ts';
import { showsOf } from '../../../../services/api/src/surfaces/mcp/capabilities.ts';

const ui = (visibility: unknown) => ({ ui: { visibility, resourceUri: 'ui://a/b' } });

describe('the visibility of a tool', () => {
  it.each([
    // Nothing is said.
    [undefined, 'model app'],
    ['text', 'model app'],
    [[], 'model app'],
    [{}, 'model app'],
    [{ ui: null }, 'model app'],
    [{ ui: {} }, 'model app'],
    [ui(null), 'model app'],
    // It is said as the specification has it.
    [ui(['model', 'app']), 'model app'],
    [ui(['model']), 'model'],
    [ui(['app']), 'app'],
    [ui(['app', 'other', 7]), 'app'],
    [ui([]), ''],
    // It is said in a way that nobody knows.
    [ui('model'), ''],
    [ui('app'), ''],
    [ui(true), ''],
    [ui({ 0: 'model' }), ''],
    [ui(['Model', ' app', ['model']]), ''],
    [{ ui: 'model' }, ''],
    [{ ui: ['model'] }, ''],
    [{ ui: false }, ''],
    // It is said by the older keys, and all must agree.
    [{ 'ui/visibility': ['app'] }, 'app'],
    [{ ...ui(['model', 'app']), 'ui/visibility': ['app'] }, 'app'],
    [{ 'openai/visibility': 'public' }, 'model app'],
    [{ 'openai/visibility': 'private' }, 'app'],
    [{ ...ui(['model']), 'openai/visibility': 'private' }, ''],
    [Object.create({ ui: { visibility: ['app'] } }), 'model app'],
  ])('%j: %s', (meta, expected) => {
    const visibility = visibilityOf(meta);
    const named = Object.entries(visibility).flatMap(([who, is]) => (is ? [who] : []));
    expect(named.join(' ')).toBe(expected);
    expect(isVisible({ visibility }, 'model')).toBe(expected.includes('model'));
    expect(isVisible({ visibility }, 'host')).toBe(expected !== '');
  });
});

it('the `_meta` of a tool says in one place for whom it is, and is bounded', () => {
  const large = 'x'.repeat(20_000);
  const metaOf = (_meta: unknown) => {
    const offer = createToolOffer({ ...DEFAULT_MCP_LIMITS, serverId: 'a', mirrorsParams: false });
    offer.add({ name: 'b', inputSchema: { type: 'object' }, _meta });
    return offer.done().tools[0]?.meta;
  };
  for (const [meta, expected] of [
    [undefined, undefined],
    [['app'], undefined],
    [{ 'acme/icon': 1 }, { 'acme/icon': 1 }],
    [ui(['app', 'x']), ui(['app'])],
    [{ 'openai/visibility': 'private' }, { 'openai/visibility': 'private', ui: { visibility: ['app'] } }],
    [{ large }, undefined],
    [{ ...ui(['app']), large }, { ui: { visibility: ['app'] } }],
  ])
    expect(metaOf(meta)).toEqual(expected);
});

describe('the address of a resource', () => {
  it.each([
    ['ui://shop/page.html', 'ui://a.b~shop/page.html'],
    ['ui://shop?x=1#part', 'ui://a.b~shop?x=1#part'],
    ['file:///receipt', 'file://a.b~/receipt'],
    ['urn:isbn:1', 'urn:a.b~isbn:1'],
    ['wiki://{space}/{id}{?lang}', 'wiki://a.b~{space}/{id}{?lang}'],
    ['ui://inner~x', 'ui://a.b~inner~x'],
  ])('%s has its server, and is found again', (uri, scoped) => {
    expect(scopedAddress('a.b', uri)).toBe(scoped);
    expect([URL.canParse(scoped), scoped.split(':', 1)]).toEqual([URL.canParse(uri), uri.split(':', 1)]);
    expect(readAddress(scoped)).toEqual({ server: 'a.b', uri });
  });

  it.each([
    'https://example.com/a',
    'HTTP://example.com',
    'mailto:a@b.example',
    'data:,x',
    'no address',
    '{scheme}://x',
    'https://shop~x.example/a',
    'mailto:shop~a@b.example',
  ])('%s has none', (uri) => {
    expect(scopedAddress('a', uri)).toBe(uri);
    expect(readAddress(uri)).toEqual({ uri });
  });

  it('is found again of every server and every address', () => {
    const server = fc.stringMatching(/^[A-Za-z0-9._-]{1,64}$/);
    const begin = fc.constantFrom('ui://', 'UI://', 'file:///', 'urn:', 'https://', 'data:', 'wiki:/', '');
    const rest = fc.stringMatching(/^[a-zA-Z0-9~%/:?#@{}+.-]{0,20}$/);
    const property = fc.property(server, begin, rest, (id, scheme, tail) => {
      const uri = `${scheme}${tail}`;
      const scoped = scopedAddress(id, uri);
      if (scoped !== uri) expect(readAddress(scoped)).toEqual({ server: id, uri });
      else if (/^(?:https|data):/.test(uri)) expect(readAddress(uri)).toEqual({ uri });
      else expect(/^[a-z][a-z0-9+.-]*:/i.test(uri)).toBe(false);
    });
    fc.assert(property);
  });

  it('is found again as clients write it that normalise addresses', () => {
    expect(readAddress('ui://shop%7Epage')).toEqual({ server: 'shop', uri: 'ui://page' });
    const { href } = new URL(scopedAddress('Wiki', 'file:///start'));
    const { server, uri } = readAddress(href);
    const [wiki, shop, other] = ['Wiki', 'shop', 'SHOP'].map((id) => ({ server: id }));
    const servers = [wiki, shop, other].filter((one) => one !== undefined);
    expect([serverNamed(servers, server), uri]).toEqual([wiki, 'file:///start']);
    expect(serverNamed(servers, 'shop')).toBe(shop);
    for (const unclear of ['Shop', 'desk', undefined]) expect(serverNamed(servers, unclear)).toBeUndefined();
  });

  it('is left out of lists, too, where its page cannot be read', () => {
    const meta = { pages: ['ui://a', 'https://example.com'], page: 'ui://a' };
    expect(withPages(meta, () => undefined)).toEqual({ pages: ['https://example.com'] });
  });

  it('is the same wherever a result names it, and data stays as it is', () => {
    const own = (uri: string) => ({
      uri: 'ui://not-an-address-here',
      structuredContent: { uri },
      content: [
        { type: 'text', text: uri },
        { type: 'resource_link', uri, name: uri, _meta: { icons: [uri, 'https://example.com'] } },
        { type: 'resource', resource: { uri, text: uri, _meta: { from: uri } } },
        'no block',
      ],
      _meta: { ui: { resourceUri: uri }, 'openai/outputTemplate': uri, said: `see ${uri} there`, none: null },
    });
    const uri = 'ui://shop/page';
    const scoped = scopedAddress('a', uri);
    const { content, _meta } = own(scoped);
    const data = own(uri);
    expect(createScoping('a').result(data)).toEqual({
      ...data,
      content: [
        data.content[0],
        { ...(content[1] as object), name: uri },
        { type: 'resource', resource: { uri: scoped, text: uri, _meta: { from: scoped } } },
        'no block',
      ],
      _meta: { ..._meta, said: data._meta.said },
    });
  });
});

it.each([
  [{ 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } }, true],
  [{ 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html'] } }, false],
  [{ 'io.modelcontextprotocol/ui': { mimeTypes: 'text/html;profile=mcp-app' } }, false],
  [{ 'io.modelcontextprotocol/ui': {} }, false],
  [['io.modelcontextprotocol/ui'], false],
])('a client with the extensions %j shows pages of servers: %s', (extensions, apps) => {
  const shown = (capabilities: object) => showsOf(capabilities, { isRecent: true });
  expect(shown({ extensions })).toEqual({ form: false, url: false, apps });
  expect(shown({ elicitation: {}, extensions })).toEqual({ form: true, url: false, apps });
});
