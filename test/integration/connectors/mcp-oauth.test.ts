import { describe, expect, test } from 'vitest';
import type { Connector } from '../../../services/api/src/accounts/connector.ts';
import { canary } from '../../harness/canary.ts';
import {
  begin,
  CLIENT,
  connect,
  expectConnected,
  REDIRECT_URI,
  tokensOf,
  walk,
} from '../../harness/pages/connectors-setup.ts';
import { CONTEXT, sightings } from '../../harness/pages/sightings.ts';
import {
  discovering,
  metadataOf,
  RESOURCE_PATH,
  resourceOf,
  SERVER_PATH,
  startGuardedTracker,
  startOddServer,
} from './mcp-oauth-setup.ts';

const CLIENT_URL = 'https://parley.example/auth/client-metadata/tracker';

/** What an authorization request asks for. */
const parametersOf = (url: string) => Object.fromEntries(new URL(url).searchParams);

/** What an MCP server that is its own authorization server publishes. */
const documentsOf = (origin: string, more: object = {}) => ({
  [RESOURCE_PATH]: { body: resourceOf(origin) },
  [SERVER_PATH]: { body: { ...metadataOf(origin), ...more } },
});

/** A server that registers `client-1`, then `client-2` and so on, and a connector to it whose clock the test sets. */
async function startRegistrar() {
  const clock = { ms: 0 };
  const registration: { status: number; body: object } = { status: 201, body: {} };
  const odd = await startOddServer((origin) => {
    const count = odd.requested.filter((one) => one === 'POST /register').length;
    const body = { client_id: `client-${count}`, redirect_uris: [REDIRECT_URI], ...registration.body };
    return { ...documentsOf(origin), '/register': { status: registration.status, body } };
  });
  const connector = discovering({ serverUrl: odd.serverUrl }, true, undefined, () => clock.ms);
  return { clock, registration, clientOf: (flowId: string) => clientOf(connector, flowId) };
}

/** The client that a question begins with, or the code of the failure. */
async function clientOf(connector: Connector, flowId: string) {
  const begun = await connector.begin({ ...CONTEXT, flowId });
  if (begun.type === 'failed') return begun.code;
  return begun.type === 'redirect' ? parametersOf(begun.url).client_id : undefined;
}

describe('a connector that discovers the authorization server of an MCP server', () => {
  test('registers, and gets a token for that server alone, which any pod refreshes and revokes', async () => {
    const { serverUrl, authorization } = await startGuardedTracker();
    const [one, other] = [discovering({ serverUrl }), discovering({ serverUrl })];
    const { begun, input, callbackState } = await walk(one);
    expect(parametersOf(begun.url)).toMatchObject({
      resource: serverUrl,
      code_challenge_method: 'S256',
      scope: 'issues:read offline_access',
      redirect_uri: REDIRECT_URI,
    });
    // Another pod finishes what the first one began.
    const { credential } = expectConnected(await other.finish(input, callbackState));
    expect(credential).toMatchObject({
      kind: 'oauth2',
      grantor: { issuer: authorization.issuer, resource: serverUrl },
    });
    const shown = await one.headersFor(credential);
    if (shown.type !== 'presented') throw new Error('expected headers');
    expect(shown.scope?.split(' ')).toContain('issues:read');
    const reply = await fetch(serverUrl, { method: 'POST', headers: shown.headers, body: '{}' });
    expect(reply.status).not.toBe(401);

    const { accessToken } = tokensOf({ credential });
    const refreshed = await one.refresh(credential);
    if (refreshed.type !== 'refreshed') throw new Error('expected a fresh credential');
    const fresh = tokensOf({ credential: refreshed.credential });
    expect(fresh.accessToken).not.toBe(accessToken);
    expect(fresh.grantor).toEqual(tokensOf({ credential }).grantor);
    expect(await other.revoke(refreshed.credential)).toBe('revoked');
    expect(await one.refresh(refreshed.credential)).toMatchObject({ code: 'invalid_grant' });
  });

  test('registers once for the attempts of an hour, and again when the server has forgotten it', async () => {
    const { serverUrl, authorization } = await startGuardedTracker();
    const connector = discovering({ serverUrl });
    const clientOf = async () => parametersOf((await begin(connector)).url).client_id;
    const client = await clientOf();
    expect(await clientOf()).toBe(client);
    const recover = authorization.misbehave({ at: 'token', status: 401, error: 'invalid_client' });
    const { input, callbackState } = await walk(connector);
    expect(await connector.finish(input, callbackState)).toMatchObject({ providerError: 'invalid_client' });
    recover();
    expect(await clientOf()).not.toBe(client);
  });

  test('has the person connect again when the server no longer knows the client', async () => {
    const { serverUrl, authorization } = await startGuardedTracker();
    const connector = discovering({ serverUrl });
    const { credential } = await connect(connector);
    authorization.misbehave({ at: 'token', status: 401, error: 'invalid_client' });
    expect(await connector.refresh(credential)).toMatchObject({ code: 'invalid_grant' });
    const forgotten = tokensOf({ credential }).grantor?.clientId;
    expect(parametersOf((await begin(connector)).url).client_id).not.toBe(forgotten);
  });

  test('registers anew when a question begins again, but not twice in a minute', async () => {
    const { clock, clientOf } = await startRegistrar();
    expect(await clientOf('el_00one')).toBe('client-1');
    expect(await clientOf('el_00one')).toBe('client-1');
    clock.ms = 61_000;
    expect(await clientOf('el_00two')).toBe('client-1');
    expect(await clientOf('el_00one')).toBe('client-2');
    expect(await clientOf('el_00one')).toBe('client-2');
  });

  test('uses no registration for more than an hour, not even while the server refuses another', async () => {
    const { clock, registration, clientOf } = await startRegistrar();
    expect(await clientOf('el_00one')).toBe('client-1');
    registration.status = 503;
    clock.ms = 59 * 60_000;
    expect(await clientOf('el_00two')).toBe('client-1');
    clock.ms = 61 * 60_000;
    expect(await clientOf('el_00three')).toBe('provider_error');
    registration.status = 201;
    expect(await clientOf('el_00three')).toBe('client-3');
  });

  test('uses no client whose secret is about to expire', async () => {
    const { registration, clientOf } = await startRegistrar();
    registration.body = { client_secret: 's', client_secret_expires_at: Math.floor(Date.now() / 1000) + 60 };
    expect(await clientOf('el_00one')).toBe('client-1');
    registration.body = { client_secret: 's', client_secret_expires_at: 0 };
    expect(await clientOf('el_00two')).toBe('client-2');
    expect(await clientOf('el_00three')).toBe('client-2');
  });

  test('uses the client that was registered by hand, with the secret of the configuration, at its issuer only', async () => {
    const { serverUrl, authorization } = await startGuardedTracker({ registration: false });
    const options = { serverUrl, issuer: authorization.issuer, client: CLIENT };
    const connector = discovering(options);
    expect(parametersOf((await begin(connector)).url).client_id).toBe(CLIENT.clientId);
    const { credential } = await connect(connector);
    const outdated = discovering({ ...options, client: { ...CLIENT, clientSecret: 'outdated' } });
    expect(await outdated.refresh(credential)).toMatchObject({ code: 'unavailable' });
    expect(await connector.refresh(credential)).toMatchObject({ type: 'refreshed' });
    expect(sightings(CLIENT.clientSecret, credential)).toEqual([]);
    const elsewhere = discovering({ ...options, issuer: 'https://issuer.example' });
    expect(await elsewhere.begin(CONTEXT)).toMatchObject({ code: 'provider_error' });
  });

  test('is known by the address of its metadata where the server accepts that', async () => {
    const odd = await startOddServer((origin) =>
      documentsOf(origin, { client_id_metadata_document_supported: true }),
    );
    const connector = discovering({ serverUrl: odd.serverUrl, metadataUrl: CLIENT_URL });
    const parameters = parametersOf((await begin(connector)).url);
    expect(parameters.client_id).toBe(CLIENT_URL);
    expect(parameters.scope).toBeUndefined();
    expect(odd.requested).not.toContain('POST /register');
    expect(connector.clientMetadata?.()).toMatchObject({
      client_id: CLIENT_URL,
      redirect_uris: [REDIRECT_URI],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    });
    expect(discovering({ serverUrl: odd.serverUrl }).clientMetadata?.()).toBeUndefined();
  });

  test('shows no secret of its client in what it returns or in the address', async () => {
    const { serverUrl } = await startGuardedTracker();
    const connector = discovering({ serverUrl });
    const { begun, callback, input, callbackState } = await walk(connector);
    const { credential } = expectConnected(await connector.finish(input, callbackState));
    const secret = tokensOf({ credential }).grantor?.clientSecret ?? '';
    expect(secret.length).toBeGreaterThan(20);
    expect(sightings(secret, begun.url, callback, await connector.describe())).toEqual([]);
    const marker = canary('state');
    const failed = await connector.finish(
      { type: 'callback', url: `/cb?code=${marker}&state=${marker}` },
      callbackState,
    );
    expect(sightings(marker, failed)).toEqual([]);
    expect(sightings(secret, failed)).toEqual([]);
  });

  test('is no connector for credentials that a configured one obtained', async () => {
    const connector = discovering({ serverUrl: 'http://127.0.0.1:9/mcp' });
    const ofAnother = { kind: 'oauth2', accessToken: 'a', tokenType: 'Bearer', refreshToken: 'r' } as const;
    expect(await connector.headersFor(ofAnother)).toMatchObject({ code: 'invalid_grant' });
    expect(await connector.refresh(ofAnother)).toMatchObject({ code: 'invalid_grant' });
    expect(await connector.revoke(ofAnother)).toBe('unsupported');
    expect(await connector.begin(CONTEXT)).toMatchObject({ type: 'failed' });
  });

  test('presents and refreshes only what was obtained for the configured server, from the configured issuer', async () => {
    const { serverUrl, authorization } = await startGuardedTracker();
    const connector = discovering({ serverUrl });
    const changed = [
      discovering({ serverUrl: 'http://127.0.0.1:9/mcp' }),
      discovering({ serverUrl, issuer: 'https://issuer.example' }),
      discovering({}),
    ];
    const { input, callbackState } = await walk(connector);
    for (const one of changed)
      expect(await one.finish(input, callbackState)).toMatchObject({ code: 'bad_state' });
    const { credential } = expectConnected(await connector.finish(input, callbackState));
    for (const one of changed) {
      expect(await one.headersFor(credential)).toMatchObject({ code: 'invalid_grant' });
      expect(await one.refresh(credential)).toMatchObject({ code: 'invalid_grant' });
    }
    expect(authorization.tokenCalls('refresh_token')).toBe(0);
    const same = discovering({ serverUrl, issuer: `${authorization.issuer}/` });
    expect(await same.headersFor(credential)).toMatchObject({ type: 'presented' });
    // The server that gave the tokens is the one that ends them.
    expect(await changed[0]?.revoke(credential)).toBe('revoked');
  });
});
