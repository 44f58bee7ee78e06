import { describe, expect, test } from 'vitest';
import { begin, tampered, walk } from '../../harness/pages/connectors-setup.ts';
import { CONTEXT } from '../../harness/pages/sightings.ts';
import {
  discovering,
  metadataOf,
  RESOURCE_PATH,
  resourceOf,
  SERVER_PATH,
  startGuardedTracker,
  startOddServer,
} from './mcp-oauth-setup.ts';

const REGISTERED = { status: 201, body: { client_id: 'parley', redirect_uris: ['http://127.0.0.1:9/cb'] } };

interface Lies {
  readonly resource?: (origin: string) => object;
  readonly metadata?: (origin: string) => object;
  readonly challenge?: (origin: string) => string;
}

/** An MCP server that lies about its authorization. */
function startLiar({ resource = () => ({}), metadata = () => ({}), challenge }: Lies) {
  return startOddServer((origin) => ({
    '/mcp': {
      status: 401,
      headers: challenge === undefined ? {} : { 'www-authenticate': challenge(origin) },
    },
    [RESOURCE_PATH]: { body: { ...resourceOf(origin), ...resource(origin) } },
    [SERVER_PATH]: { body: { ...metadataOf(origin), ...metadata(origin) } },
    '/register': REGISTERED,
  }));
}

describe('an MCP server that lies about its authorization', () => {
  test('is believed where it does not', async () => {
    const { serverUrl } = await startLiar({});
    expect(await discovering({ serverUrl }).begin(CONTEXT)).toMatchObject({ type: 'redirect' });
  });

  const says = (more: object): Lies => ({ metadata: () => more });
  const guards = (more: object): Lies => ({ resource: () => more });
  test.each<[string, Lies, string?]>([
    ['names another resource', guards({ resource: 'https://bank.example/mcp' })],
    ['names no authorization server', guards({ authorization_servers: [] })],
    ['sends more than it should', guards({ padding: 'x'.repeat(300_000) })],
    ['leads to a server that names another issuer', says({ issuer: 'https://bank.example' }), 'bad_issuer'],
    ['leads to a server without PKCE', says({ code_challenge_methods_supported: ['plain'] })],
    ['does not say whether it has PKCE', says({ code_challenge_methods_supported: undefined })],
    ['leads people to a script', says({ authorization_endpoint: 'javascript:alert(1)' })],
    ['leads people to an address in the clear', says({ authorization_endpoint: 'http://bank.example/a' })],
    ['has codes sent in the clear', says({ token_endpoint: 'http://evil.example/t' })],
    ['has Parley register in the clear', says({ registration_endpoint: 'http://evil.example/r' })],
    ['offers no way to register', says({ registration_endpoint: undefined })],
    [
      'leads people to an address with a name in it',
      says({ authorization_endpoint: 'https://bank.example@evil.example/' }),
    ],
  ])('that %s gets nobody', async (_what, lies, code = 'provider_error') => {
    const { serverUrl, requested } = await startLiar(lies);
    expect(await discovering({ serverUrl }).begin(CONTEXT)).toMatchObject({ type: 'failed', code });
    expect(requested).not.toContain('POST /token');
  });

  test.each([
    ['https://169.254.169.254/latest/meta-data'],
    ['https://10.0.0.1/'],
    ['http://[::ffff:10.0.0.1]/'],
    ['https://user:password@10.0.0.1/'],
  ])('makes Parley call no private address: %s [SEC-13 SEC-14]', async (address) => {
    const byChallenge = await startLiar({ challenge: () => `Bearer resource_metadata="${address}"` });
    const byResource = await startLiar({ resource: () => ({ authorization_servers: [address] }) });
    for (const { serverUrl } of [byChallenge, byResource])
      expect(await discovering({ serverUrl }).begin(CONTEXT)).toEqual({
        type: 'failed',
        code: 'provider_error',
        detail: 'the server names an address that may not be called',
      });
  });

  test.each([['https://169.254.169.254/latest/meta-data'], ['https://10.0.0.1/']])(
    'has codes sent to no private address: %s [SEC-13]',
    async (address) => {
      const { serverUrl } = await startLiar({ metadata: () => ({ token_endpoint: address }) });
      const faults: unknown[] = [];
      const connector = discovering({ serverUrl }, true, (error) => faults.push(error));
      const { state, callbackState } = await begin(connector);
      expect(faults).toEqual([]);
      const url = `/cb?code=c&state=${state}`;
      expect(await connector.finish({ type: 'callback', url }, callbackState)).toMatchObject({
        type: 'failed',
        detail: 'the token endpoint gave no answer',
      });
      expect(faults).toMatchObject([{ code: 'refused_address' }]);
    },
  );

  test.each([['http://[::ffff:10.0.0.1]/'], ['https://user:password@example.com/']])(
    'begins no flow whose codes would be sent to %s [SEC-13]',
    async (address) => {
      const { serverUrl } = await startLiar({ metadata: () => ({ token_endpoint: address }) });
      expect(await discovering({ serverUrl }).begin(CONTEXT)).toEqual({
        type: 'failed',
        code: 'provider_error',
        detail: 'the authorization server names an endpoint that may not be called',
      });
    },
  );

  test('makes Parley call no neighbour on loopback in production', async () => {
    const neighbour = await startOddServer((origin) => ({ [SERVER_PATH]: { body: metadataOf(origin) } }));
    const liar = await startLiar({ resource: () => ({ authorization_servers: [neighbour.origin] }) });
    expect(await discovering({ serverUrl: liar.serverUrl }, false).begin(CONTEXT)).toMatchObject({
      code: 'provider_error',
    });
    expect(neighbour.requested).toEqual([]);
  });

  test('that redirects its metadata or the registration is not followed, not even within its origin', async () => {
    const moved = (origin: string) => ({ status: 307, headers: { location: `${origin}/moved` } });
    const odd = await startOddServer((origin) => ({
      [RESOURCE_PATH]: moved(origin),
      '/moved': { body: resourceOf(origin) },
    }));
    const registrar = await startOddServer((origin) => ({
      [RESOURCE_PATH]: { body: resourceOf(origin) },
      [SERVER_PATH]: { body: metadataOf(origin) },
      '/register': moved(origin),
      '/moved': REGISTERED,
    }));
    for (const { serverUrl, requested } of [odd, registrar]) {
      expect(await discovering({ serverUrl }).begin(CONTEXT)).toMatchObject({ type: 'failed' });
      expect(requested.filter((one) => one.endsWith('/moved'))).toEqual([]);
    }
  });

  test('asks for no more scopes than a request can have', async () => {
    const many = Array.from({ length: 500 }, (_, index) => `scope-${index}`);
    const { serverUrl } = await startLiar({ resource: () => ({ scopes_supported: [...many, 'a\nb', '"'] }) });
    const begun = await begin(discovering({ serverUrl }));
    expect(new URL(begun.url).searchParams.get('scope')?.split(' ')).toHaveLength(50);
  });
});

describe('a mix-up of authorization servers', () => {
  test('ends before the code leaves, where the answer names another issuer', async () => {
    const { serverUrl, authorization } = await startGuardedTracker();
    const connector = discovering({ serverUrl });
    const { input, callbackState } = await walk(connector);
    for (const issuer of ['https://honest.example', `${authorization.issuer}/`, undefined]) {
      const url = tampered(input.url, 'iss', issuer);
      expect(await connector.finish({ type: 'callback', url }, callbackState)).toMatchObject({
        code: 'bad_issuer',
      });
    }
    expect(authorization.tokenCalls('authorization_code')).toBe(0);
  });

  test('ends where the flow was begun by another connector', async () => {
    const { serverUrl } = await startGuardedTracker();
    const { input, callbackState } = await walk(discovering({ serverUrl }));
    expect(await discovering({ serverUrl, id: 'other' }).finish(input, callbackState)).toMatchObject({
      code: 'bad_state',
    });
    const { grantor: _grantor, ...without } = callbackState;
    expect(await discovering({ serverUrl }).finish(input, without)).toMatchObject({ code: 'bad_state' });
  });
});
