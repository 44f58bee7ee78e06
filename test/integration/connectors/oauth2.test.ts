import { describe, expect, test } from 'vitest';
import type { Connector } from '../../../services/api/src/accounts/connector.ts';
import { createAuthorizationStore } from '../../../stand-ins/authorization-server/store.ts';
import {
  begin,
  connect,
  connectorTo,
  endpointsOf,
  expectConnected,
  PUBLIC_CLIENT,
  REDIRECT_URI,
  RESOURCE,
  SCOPES,
  startServer,
  tokensOf,
  tokenVerifier,
  walk,
} from '../../harness/pages/connectors-setup.ts';
import { CONTEXT } from '../../harness/pages/sightings.ts';

async function refreshed(connector: Connector, credential: Parameters<Connector['refresh']>[0]) {
  const result = await connector.refresh(credential);
  if (result.type !== 'refreshed') throw new Error(`expected a refresh: ${result.code}`);
  return { credential: result.credential, ...tokensOf(result) };
}

describe('an OAuth connector', () => {
  test('obtains a token that the API accepts, with PKCE, state and a limited lifetime', async () => {
    const server = await startServer();
    const connector = connectorTo(server);
    const { begun, callbackState, input } = await walk(connector);
    const sent = new URL(begun.url).searchParams;
    expect(sent.get('code_challenge_method')).toBe('S256');
    expect(sent.get('redirect_uri')).toBe(REDIRECT_URI);
    expect(sent.get('scope')).toBe(SCOPES.join(' '));
    expect(sent.get('state')).toBe(begun.state);
    expect(begun.state?.length).toBeGreaterThanOrEqual(22);
    // Through JSON, as a flow store keeps it: what one pod began another finishes.
    const elsewhere = connectorTo(server);
    const result = expectConnected(await elsewhere.finish(input, JSON.parse(JSON.stringify(callbackState))));
    const { accessToken, scope, expiresAt = 0 } = tokensOf(result);
    expect(scope).toBe(SCOPES.join(' '));
    expect(result.withheldScopes).toEqual([]);
    expect(expiresAt - Date.now()).toBeGreaterThan(500_000);
    expect(expiresAt - Date.now()).toBeLessThanOrEqual(600_000);
    expect(await tokenVerifier(server)(accessToken)).toEqual({ subject: 'ada', scopes: SCOPES });
    expect(await connector.headersFor(result.credential)).toEqual({
      type: 'presented',
      headers: { authorization: `Bearer ${accessToken}` },
      expiresAt,
    });
  });

  test('gives every flow its own state, verifier and nonce', async () => {
    const connector = connectorTo(await startServer(), { scopes: ['openid', ...SCOPES] });
    const [one, other] = [await begin(connector), await begin(connector)];
    for (const name of ['state', 'verifier', 'nonce']) {
      expect(one.callbackState[name]).toEqual(expect.any(String));
      expect(one.callbackState[name]).not.toBe(other.callbackState[name]);
    }
    expect(one.url).not.toContain(one.callbackState.verifier);
  });

  test('works as a public client', async () => {
    const server = await startServer();
    const connector = connectorTo(server, { clientId: PUBLIC_CLIENT });
    const { accessToken } = tokensOf(await connect(connector));
    expect((await tokenVerifier(server)(accessToken))?.subject).toBe('ada');
  });

  test('requests a token for one API only', async () => {
    const server = await startServer();
    const connector = connectorTo(server, { resource: RESOURCE });
    const first = await connect(connector);
    const verify = tokenVerifier(server, RESOURCE);
    expect((await verify(tokensOf(first).accessToken))?.subject).toBe('ada');
    const second = await refreshed(connector, first.credential);
    expect((await verify(second.accessToken))?.subject).toBe('ada');
    const unbound = await connect(connectorTo(server));
    expect(await verify(tokensOf(unbound).accessToken)).toBeUndefined();
  });

  test('checks the ID token when it requests one', async () => {
    const connector = connectorTo(await startServer(), { scopes: ['openid', ...SCOPES] });
    const { input, callbackState } = await walk(connector);
    const nonce = 'n'.repeat(43);
    expect(await connector.finish(input, { ...callbackState, nonce })).toMatchObject({
      code: 'provider_error',
    });
    expect((await connect(connector)).type).toBe('connected');
  });

  test('reports which scopes were not granted; offline_access is, where there is a refresh token', async () => {
    const server = await startServer();
    const connector = connectorTo(server, { scopes: [...SCOPES, 'issues:delete', 'offline_access'] });
    const result = await connect(connector);
    expect(result.withheldScopes).toEqual(['issues:delete']);
    expect(tokensOf(result).scope).toBe(SCOPES.join(' '));
  });

  test('works with endpoints from the configuration', async () => {
    const server = await startServer();
    server.misbehave({ at: 'discovery', status: 500 });
    const connector = connectorTo(server, {
      server: {
        ...endpointsOf(server),
        revocationEndpoint: `${server.issuer}/token/revocation`,
        sendsIssuer: true,
      },
    });
    const { credential } = await connect(connector);
    expect((await refreshed(connector, credential)).accessToken).not.toBe(
      tokensOf({ credential }).accessToken,
    );
    expect(await connector.revoke(credential)).toBe('revoked');
  });

  test('describes itself before a flow begins', async () => {
    const server = await startServer();
    expect(await connectorTo(server).describe()).toEqual({ origin: server.issuer, scopes: SCOPES });
    server.misbehave({ at: 'discovery', status: 500 });
    expect(await connectorTo(server).describe()).toEqual({ scopes: SCOPES });
  });
});

describe('a stored credential', () => {
  test('is renewed, and the refresh token with it', async () => {
    const server = await startServer();
    const connector = connectorTo(server);
    const first = await connect(connector);
    const second = await refreshed(connector, first.credential);
    expect(second.refreshToken).not.toBe(tokensOf(first).refreshToken);
    const third = await refreshed(connector, second.credential);
    expect((await tokenVerifier(server)(third.accessToken))?.subject).toBe('ada');
    expect(server.tokenCalls('refresh_token')).toBe(2);
    expect(server.reusedFamilies()).toEqual([]);
  });

  test('can be revoked by us, refresh and access token alike', async () => {
    const server = await startServer();
    const connector = connectorTo(server);
    const { credential } = await connect(connector);
    const other = await connect(connector, 'bob');
    expect(await connector.revoke(credential)).toBe('revoked');
    expect(await tokenVerifier(server)(tokensOf({ credential }).accessToken)).toBeUndefined();
    expect(await connector.refresh(credential)).toMatchObject({ code: 'invalid_grant' });
    expect((await tokenVerifier(server)(tokensOf(other).accessToken))?.subject).toBe('bob');
    expect(server.reusedFamilies()).toEqual([]);
  });

  test('cannot be renewed without a refresh token, nor by a connector of another kind', async () => {
    const server = await startServer();
    const connector = connectorTo(server);
    const bare = { kind: 'oauth2', accessToken: 'a', tokenType: 'Bearer' } as const;
    expect(await connector.refresh(bare)).toMatchObject({ code: 'invalid_grant' });
    const more = { sendsIssuer: true, clientId: 'parley', resource: RESOURCE };
    const grantor = { ...endpointsOf(server), ...more };
    const discovered = { ...bare, refreshToken: 'r', grantor };
    for (const ofAnother of [{ kind: 'api_key', value: 'k' } as const, discovered]) {
      expect(await connector.refresh(ofAnother)).toMatchObject({ code: 'invalid_grant' });
      expect(await connector.headersFor(ofAnother)).toMatchObject({ code: 'invalid_grant' });
      expect(await connector.revoke(ofAnother)).toBe('unsupported');
    }
    expect(server.tokenCalls('refresh_token')).toBe(0);
  });

  test('of a server without a revocation endpoint is only deleted locally', async () => {
    const server = await startServer();
    const connector = connectorTo(server, { server: endpointsOf(server) });
    const { credential } = await connect(connector);
    expect(await connector.revoke(credential)).toBe('unsupported');
  });
});

test('a refresh token that two calls use at the same moment revokes its family', async () => {
  const store = createAuthorizationStore();
  const tokens = store.adapter('RefreshToken');
  await store.adapter('Grant').upsert('g', { accountId: 'ada' });
  await tokens.upsert('r', { grantId: 'g' });
  // Both have read it as unused; only here can the second use still be detected.
  await tokens.consume('r');
  await expect(tokens.consume('r')).rejects.toMatchObject({ error: 'invalid_grant' });
  expect([...store.reusedFamilies]).toEqual(['g']);
  expect(await store.adapter('Grant').find('g')).toBeUndefined();
});

describe('the metadata of a server', () => {
  test('is requested again after a failure, and cached after a success', async () => {
    const server = await startServer();
    const connector = connectorTo(server);
    const mend = server.misbehave({ at: 'discovery', status: 503 });
    expect(await connector.begin(CONTEXT)).toMatchObject({ type: 'failed', code: 'unavailable' });
    mend();
    expect((await connector.begin(CONTEXT)).type).toBe('redirect');
    server.misbehave({ at: 'discovery', status: 503 });
    expect((await connector.begin(CONTEXT)).type).toBe('redirect');
  });

  test('is used after its expiry when it cannot be renewed', async () => {
    const server = await startServer();
    const connector = connectorTo(server, { metadataTtlMs: 0 });
    expect((await connector.begin(CONTEXT)).type).toBe('redirect');
    server.misbehave({ at: 'discovery', status: 503 });
    expect((await connector.begin(CONTEXT)).type).toBe('redirect');
  });

  test('may not name an http address', async () => {
    const server = await startServer();
    const strict = () => connectorTo(server, { allowLoopbackHttp: false });
    expect(strict).toThrow(TypeError);
    expect(() => connectorTo(server, { redirectUri: `${REDIRECT_URI}?x=1` })).toThrow(TypeError);
  });
});
