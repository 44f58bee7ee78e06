import { createServer } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  createNangoConnector,
  type NangoOptions,
} from '../../../services/api/src/accounts/connectors/nango.ts';
import { listenOnFreePort } from '../../harness/free-port.ts';
import { CONTEXT, sightings } from '../../harness/pages/sightings.ts';
import {
  begin,
  connectAt,
  connected,
  INTEGRATION,
  SECRET_KEY,
  SIGNING_KEY,
  startWorld,
} from './nango-setup.ts';

describe('a connection through Nango', () => {
  test('is completed by webhook, and its token is accepted by the API', async () => {
    const world = await startWorld();
    const { credential, verdict } = await connected(world);
    expect(verdict.event).toMatchObject(CONTEXT);
    const presented = await world.connector.headersFor(credential);
    if (presented.type !== 'presented') throw new Error(presented.code);
    // Nango's own client sees the same connection, with the tags that tie it to the flow.
    const seen = await world.sdk.getConnection(INTEGRATION, credential.connectionId);
    expect(seen.tags).toEqual({ elicitation_id: CONTEXT.flowId, tenant: CONTEXT.tenant });
    expect(presented.headers).toEqual({
      authorization: `Bearer ${await world.sdk.getToken(INTEGRATION, credential.connectionId)}`,
    });
    expect(presented.expiresAt).toBeGreaterThan(Date.now());
  });

  test('is refreshed on demand, and lost when the user revokes it at the provider', async () => {
    const world = await startWorld();
    const { credential } = await connected(world);
    expect(await world.connector.refresh(credential)).toEqual({ type: 'refreshed', credential });
    expect(world.provider.tokenCalls('refresh_token')).toBe(1);
    world.provider.revokeUser('ada');
    expect(await world.connector.refresh(credential)).toMatchObject({ code: 'invalid_grant' });
  });

  test('can be deleted by us, and deleted again without an error', async () => {
    const world = await startWorld();
    const { credential } = await connected(world);
    expect(await world.connector.revoke(credential)).toBe('revoked');
    expect((await world.sdk.listConnections({ tags: { tenant: CONTEXT.tenant } })).connections).toEqual([]);
    expect(await world.connector.revoke(credential)).toBe('revoked');
    expect(await world.connector.headersFor(credential)).toMatchObject({ code: 'invalid_grant' });
  });

  test('is found by its tags when the webhook is lost', async () => {
    const world = await startWorld();
    world.nango.loseWebhooks(true);
    const [mine, theirs] = [await begin(world), await begin(world, { ...CONTEXT, flowId: 'el_00other' })];
    expect(await world.connector.poll?.(mine.callbackState)).toEqual({ type: 'pending' });
    await connectAt(world, mine);
    expect(await world.connector.poll?.(mine.callbackState)).toMatchObject({ type: 'connected' });
    expect(await world.connector.poll?.(theirs.callbackState)).toEqual({ type: 'pending' });
    expect(await world.connector.poll?.({ ...mine.callbackState, tenant: 'else' })).toEqual({
      type: 'pending',
    });
    expect(await world.connector.poll?.({ connectorId: 'else' })).toMatchObject({ code: 'bad_state' });
    expect(world.received).toEqual([]);
  });
});

describe('the secret of a connection', () => {
  const basic = Buffer.from('ada:pw').toString('base64');

  /** What a connector presents when Nango answers with these credentials. */
  async function presentedFor(credentials: object, options: Partial<NangoOptions> = {}) {
    const server = createServer((req, res) => {
      const connection = { connection_id: 'c1', provider_config_key: INTEGRATION, credentials };
      res.writeHead(req.method === 'GET' ? 200 : 404).end(JSON.stringify(connection));
    });
    onTestFinished(() => void server.close());
    const host = `http://127.0.0.1:${await listenOnFreePort(server)}/`;
    const keys = { secretKey: SECRET_KEY, webhookSigningKey: SIGNING_KEY };
    const at = { id: 'tracker', integration: INTEGRATION, host, allowLoopbackHttp: true };
    const connector = createNangoConnector({ ...at, ...keys, ...options });
    return connector.headersFor({ kind: 'nango', connectionId: 'c1', providerConfigKey: INTEGRATION });
  }

  test.each([
    ['an access token', { type: 'OAUTH2', access_token: 't' }, {}, { authorization: 'Bearer t' }],
    ['a machine token', { type: 'OAUTH2_CC', token: 't' }, {}, { authorization: 'Bearer t' }],
    ['a key', { type: 'API_KEY', apiKey: 'k' }, {}, { authorization: 'Bearer k' }],
    [
      'a key in its own header',
      { type: 'API_KEY', apiKey: 'k' },
      { apiKeyHeader: 'X-Key' },
      { 'x-key': 'k' },
    ],
    [
      'a password',
      { type: 'BASIC', username: 'ada', password: 'pw' },
      {},
      { authorization: `Basic ${basic}` },
    ],
  ])('that is %s is presented as such', async (_what, credentials, options, headers) => {
    expect(await presentedFor(credentials, options)).toEqual({ type: 'presented', headers });
  });

  test.each([
    ['of a kind we do not know', { type: 'OAUTH1', oauth_token: 't' }, 'unavailable'],
    ['missing', { type: 'OAUTH2' }, 'unavailable'],
    ['no header can take', { type: 'API_KEY', apiKey: 'a\r\nb' }, 'invalid_grant'],
  ])('that is %s is not presented', async (_what, credentials, code) => {
    expect(await presentedFor(credentials)).toMatchObject({ type: 'failed', code });
  });
});

test('no failure holds a key or a link', async () => {
  const world = await startWorld();
  const begun = await begin(world);
  const link = new URL(begun.url).searchParams.get('session_token') ?? '';
  expect(link.length).toBeGreaterThan(32);
  expect(sightings(link, begun.callbackState)).toEqual([]);
  const wrongKey = createNangoConnector({
    id: 'tracker',
    integration: INTEGRATION,
    secretKey: `${SECRET_KEY}x`,
    webhookSigningKey: SIGNING_KEY,
    host: world.nango.url,
    allowLoopbackHttp: true,
  });
  const event = { connectionId: SECRET_KEY, ...CONTEXT };
  const credential = { kind: 'nango', connectionId: 'c1', providerConfigKey: INTEGRATION } as const;
  const failures = [
    await wrongKey.begin(CONTEXT),
    await wrongKey.finish({ type: 'event', event }, begun.callbackState),
    await wrongKey.poll?.(begun.callbackState),
    await wrongKey.refresh(credential),
    await wrongKey.headersFor(credential),
  ];
  for (const one of failures) expect(one).toMatchObject({ type: 'failed', code: 'unavailable' });
  expect(await wrongKey.revoke(credential)).toBe('unavailable');
  for (const secret of [SECRET_KEY, SIGNING_KEY, link])
    expect(sightings(secret, ...failures, wrongKey)).toEqual([]);
  expect(() =>
    createNangoConnector({
      id: 'n',
      integration: 'i',
      secretKey: SECRET_KEY,
      webhookSigningKey: 's',
      host: 'http://10.0.0.1',
    }),
  ).toThrow(TypeError);
});
