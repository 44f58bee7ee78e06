import { generateKeyPairSync } from 'node:crypto';
import { type CredentialRef, PROJECT } from '@parley/shared/domain/credential';
import { createGuardedFetch } from '@parley/shared/net/guarded-fetch';
import { generateKeyPair, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import {
  type ClientCredentialsOptions,
  createClientCredentials,
} from '../../../services/api/src/accounts/connectors/client-credentials/client-credentials.ts';
import { readSigningKey } from '../../../services/api/src/agents/config/signing-key.ts';
import { deleteUnusedTokens } from '../../../services/api/src/wiring/credentials/project-records.ts';
import { createTokenVerifier } from '../../../stand-ins/authorization-server/verify.ts';
import { JWT_BEARER, type TrustedPlatform } from '../../../stand-ins/authorization-server/workloads.ts';
import { canary } from '../../harness/canary.ts';
import { describeOnRedis } from '../../harness/engines/describe-on-redis.ts';
import { engineOn } from '../../harness/engines/engines.ts';
import { modern, modernExchange, textIn } from '../../harness/mcp-clients/raw.ts';
import { mcpSurface } from '../../harness/mcp-clients/setup.ts';
import { newPerson, serveOn } from '../../harness/protocols/pods.ts';
import { startConfiguredPod } from '../../harness/turns/configured.ts';
import { newKeys } from '../../harness/vault/stores.ts';
import { startGuardedTracker, startOddServer } from './mcp-oauth-setup.ts';

const API = { clientId: 'tracker-api', clientSecret: 'api-secret', redirectUris: [] };
const ROBOT = { clientId: 'robot', clientSecret: canary('robot-secret') };
/** Another client with the same secret. */
const SUCCESSOR = { ...ROBOT, clientId: 'robot-2', redirectUris: [], machine: {} };
const SECRET = { type: 'secret', secret: ROBOT.clientSecret } as const;

/** A key of a client, and what its server knows of it. */
function keyPair(type: 'ec' | 'ed25519' | 'rsa') {
  const options = { namedCurve: 'P-256', modulusLength: 2048 };
  const { privateKey, publicKey } =
    type === 'ec'
      ? generateKeyPairSync('ec', options)
      : type === 'rsa'
        ? generateKeyPairSync('rsa', options)
        : generateKeyPairSync('ed25519');
  return {
    pem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey: { ...publicKey.export({ format: 'jwk' }), use: 'sig' },
  };
}

type Machine = Parameters<typeof keyPair>[0];

/** A tracker at whose authorization server `robot` may obtain tokens for itself. */
async function startTracker(key?: ReturnType<typeof keyPair>, platform?: TrustedPlatform) {
  const { serverUrl, authorization, tracker } = await startGuardedTracker({
    ...(platform !== undefined && { platform }),
    clients: [
      API,
      SUCCESSOR,
      platform !== undefined
        ? { clientId: ROBOT.clientId, redirectUris: [], workload: true }
        : key === undefined
          ? { ...ROBOT, redirectUris: [], machine: {} }
          : { clientId: ROBOT.clientId, redirectUris: [], machine: { publicKey: key.publicKey } },
    ],
  });
  const { issuer } = authorization;
  return { serverUrl, authorization, tracker, issuer };
}

function connectorTo(
  server: Pick<ClientCredentialsOptions, 'serverUrl' | 'issuer'>,
  more: Partial<ClientCredentialsOptions> = {},
  now?: () => number,
) {
  const { serverUrl, issuer } = server;
  const { clientId } = ROBOT;
  return createClientCredentials(
    { serverUrl, issuer, clientId, proof: SECRET, allowLoopbackHttp: true, timeoutMs: 60_000, ...more },
    {
      guardedFetch: createGuardedFetch({ allowLoopback: true, timeoutMs: 60_000 }),
      ...(now !== undefined && { now }),
    },
  );
}

const { signal } = new AbortController();

function tokensIn(result: Awaited<ReturnType<ReturnType<typeof connectorTo>['obtain']>>) {
  if (result.type !== 'refreshed' || result.credential.kind !== 'oauth2')
    throw new Error(`expected tokens: ${JSON.stringify(result)}`);
  return result.credential;
}

describe('the client of a project', () => {
  it.each<[name: string, machine: Machine | undefined, algorithm?: string]>([
    ['a secret', undefined],
    ['an EC key', 'ec'],
    ['an RSA key', 'rsa'],
    ['an RSA key and PS256', 'rsa', 'PS256'],
    ['an Ed25519 key', 'ed25519'],
  ])('with %s gets a token for its server alone', async (_name, machine, algorithm) => {
    const key = machine && keyPair(machine);
    const server = await startTracker(key);
    const read = readSigningKey({ algorithm }, key?.pem ?? '');
    const proof = 'fault' in read ? SECRET : ({ type: 'key', ...read } as const);
    const connector = connectorTo(server, { proof });
    const credential = tokensIn(await connector.obtain(signal));
    const shown = await connector.headersFor(credential);
    if (shown.type !== 'presented') throw new Error('expected headers');
    const [, token = ''] = shown.headers.authorization?.split(' ') ?? [];
    const verified = (resource: string) =>
      createTokenVerifier({ issuer: server.issuer, ...API, resource })(token);
    expect(await verified(server.serverUrl)).toEqual({ subject: 'robot', scopes: ['issues:read'] });
    expect(await verified('http://127.0.0.1:9/other')).toBeUndefined();
    expect(credential).not.toHaveProperty('refreshToken');
    const ofAnother = [
      { clientId: 'other' },
      { issuer: 'http://127.0.0.1:9' },
      { serverUrl: 'http://127.0.0.1:9/mcp' },
    ];
    for (const other of ofAnother)
      expect((await connectorTo(server, other).headersFor(credential)).type).toBe('failed');
  });

  it('with the token of its workload, which is read anew for each, gets one, and none with another’s', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    const server = await startTracker(undefined, { issuer: 'https://platform.example', publicKey });
    let ms = 0;
    let file: string | undefined;
    const readToken = async () => file ?? Promise.reject(new Error('no such file'));
    const connector = connectorTo(server, { proof: { type: 'workload', readToken } }, () => ms);
    const signed = (audience: string, seconds: number) =>
      new SignJWT({})
        .setProtectedHeader({ alg: 'ES256' })
        .setIssuer('https://platform.example')
        .setSubject('parley')
        .setAudience(audience)
        .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
        .sign(privateKey);
    expect(await connector.obtain(signal)).toMatchObject({ code: 'unavailable' });
    ms += 2_000;
    for (const wrong of [await signed('https://other.example', 60), await signed(server.issuer, -60)]) {
      file = wrong;
      expect(await connector.obtain(signal)).toMatchObject({
        code: 'invalid_grant',
        providerError: 'invalid_grant',
      });
      ms += 10_000;
    }
    expect(server.authorization.tokenCalls(JWT_BEARER)).toBe(2);
    file = await signed(server.issuer, 60);
    const result = await connector.obtain(signal);
    expect(result).toMatchObject({ type: 'refreshed', credential: { scope: 'issues:read' } });
    const { accessToken } = tokensIn(result);
    const verify = createTokenVerifier({ issuer: server.issuer, ...API, resource: server.serverUrl });
    expect(await verify(accessToken)).toEqual({ subject: 'robot', scopes: ['issues:read'] });
  });

  it('that is refused is not shown again for ten seconds, and a server that is down is asked again after two', async () => {
    const server = await startTracker();
    const calls = () => server.authorization.tokenCalls('client_credentials');
    let ms = 0;
    const connector = connectorTo(server, { proof: { type: 'secret', secret: 'wrong' } }, () => ms);
    const refused = { code: 'invalid_grant', providerError: 'invalid_client' };
    expect(await connector.obtain(signal)).toMatchObject(refused);
    expect([await connector.obtain(signal), calls()]).toMatchObject([refused, 1]);
    ms = 10_000;
    expect([await connector.obtain(signal), calls()]).toMatchObject([refused, 2]);
    const recover = server.authorization.misbehave({ at: 'token', status: 503 });
    const before = calls();
    const other = connectorTo(server, {}, () => ms);
    for (let times = 0; times < 3; times += 1)
      expect(await other.obtain(signal)).toMatchObject({ code: 'unavailable' });
    expect(calls()).toBe(before + 1);
    recover();
    ms += 2_000;
    expect(await other.obtain(signal)).toMatchObject({ type: 'refreshed' });
  });

  it('requests what the server wants in addition, from then on, until it is refused', async () => {
    const server = await startTracker();
    let ms = 0;
    const connector = connectorTo(server, {}, () => ms);
    const scopesOf = async (scope?: string) => {
      const result = await connector.obtain(signal, scope);
      return result.type === 'refreshed' ? tokensIn(result).scope : result.code;
    };
    expect(await scopesOf()).toBe('issues:read');
    expect(await scopesOf('issues:read issues:write')).toBe('issues:read issues:write');
    expect(await scopesOf()).toBe('issues:read issues:write');
    const refuse = server.authorization.misbehave({ at: 'token', status: 400, error: 'invalid_scope' });
    expect(await scopesOf()).toBe('invalid_grant');
    refuse();
    ms += 10_000;
    expect(await scopesOf()).toBe('issues:read');
    const chosen = connectorTo(server, { scopes: ['issues:read'] });
    const credential = tokensIn(await chosen.obtain(signal, 'issues:read issues:write'));
    expect(credential.scope).toBe('issues:read');
    expect(await chosen.headersFor(credential)).not.toHaveProperty('scope');
  });

  it('requests the scopes of the configuration, whatever the server asks for', async () => {
    const server = await startTracker();
    const wide = await connectorTo(server).obtain(signal);
    expect(wide).toMatchObject({ type: 'refreshed', credential: { scope: 'issues:read' } });
    const own = await connectorTo(server, { scopes: [] }).obtain(signal);
    expect(own).toMatchObject({ type: 'refreshed' });
    expect(own).not.toHaveProperty('credential.scope');
  });

  it('proves itself to no server but its issuer, and only for the server that is configured', async () => {
    const { issuer, authorization } = await startTracker();
    const rows = [
      [
        'another issuer',
        (origin: string) => ({ resource: `${origin}/mcp`, authorization_servers: ['http://127.0.0.1:9'] }),
      ],
      ['another resource', () => ({ resource: 'http://127.0.0.1:9/mcp', authorization_servers: [issuer] })],
    ] as const;
    for (const [name, body] of rows) {
      const odd = await startOddServer((origin) => ({
        '/.well-known/oauth-protected-resource/mcp': { body: body(origin) },
      }));
      const result = await connectorTo({ serverUrl: odd.serverUrl, issuer }).obtain(signal);
      expect(result, name).toMatchObject({ code: 'invalid_grant' });
    }
    expect(authorization.tokenCalls('client_credentials')).toBe(0);
  });
});

await describeOnRedis('a server with the credential of the project', (stores) => {
  const keys = newKeys();

  /** A pod that offers the tracker's tools. */
  async function openPod(
    on: 'backend' | 'second',
    { serverUrl, issuer }: Awaited<ReturnType<typeof startTracker>>,
    { clientId = ROBOT.clientId, secret = ROBOT.clientSecret, projectKeys = keys } = {},
  ) {
    const backend = stores[on];
    const yaml = `mcpServers:
  tracker-${new URL(serverUrl).port}:
    { title: Tracker, transport: http, url: "${serverUrl}", credentialScope: project, connector: own }
connectors:
  own: { type: client_credentials, issuer: "${issuer}", clientId: ${clientId}, clientSecretEnv: ROBOT_SECRET }
mcpOffer: { agents: [], tools: [{ server: tracker-${new URL(serverUrl).port}, prefix: false }] }
`;
    const pod = startConfiguredPod({
      yaml,
      env: { ROBOT_SECRET: secret },
      projectKeys,
      backend,
      engine: engineOn(backend),
      pod: `${on} of ${serverUrl} ${clientId} ${secret.length}`,
    });
    const served = await serveOn(pod, { surfaceOf: mcpSurface({ roundMs: 60_000 }) });
    return {
      /** Calls as somebody new, and tells what the client was told. */
      async call() {
        const message = modern('tools/call', { name: 'list_issues', arguments: {} });
        const reply = await modernExchange(served.url, newPerson(), message);
        return textIn(reply.messages.at(-1)) ?? JSON.stringify(reply.messages.at(-1));
      },
      stop: served.stop,
    };
  }

  it('is called by everybody on all pods with one token, and with a new one once it is refused', async () => {
    const server = await startTracker();
    const { authorization } = server;
    const pods = [await openPod('backend', server), await openPod('second', server)] as const;
    const all = () => Promise.all([0, 1, 2, 3, 4, 5].map((at) => pods[at % 2]?.call()));
    for (const text of await all()) expect(text).toContain('issues');
    expect(authorization.tokenCalls('client_credentials')).toBe(1);
    authorization.revokeUser('robot');
    for (const text of await all()) expect(text).toContain('issues');
    expect(authorization.tokenCalls('client_credentials')).toBe(2);
    for (const pod of pods) pod.stop();
  });

  it('has a token for each client while pods with the old and the new configuration run', async () => {
    const server = await startTracker();
    const pods = [
      await openPod('backend', server),
      await openPod('second', server, { clientId: SUCCESSOR.clientId }),
    ];
    for (const pod of [...pods, ...pods, ...pods]) expect(await pod.call()).toContain('issues');
    expect(server.authorization.tokenCalls('client_credentials')).toBe(2);
    for (const pod of pods) pod.stop();
  });

  it('leaves no token behind that no configuration uses for a week', async () => {
    const { vault: store } = stores.backend;
    const ref = (toolId: string, connectorId: string) => ({ ...PROJECT, toolId, connectorId });
    const refs = [ref('kept', 'own.a'), ref('kept', 'own.b'), ref('gone', 'own.a')];
    for (const each of refs) await store.write(each, 'sealed');
    const kept = async () => {
      const found = await Promise.all(refs.map((each) => store.read(each)));
      return found.map((each) => each !== undefined);
    };
    const used = new Map([['kept', { connectorId: 'own.a' }]]);
    /** What is read after these days, where nobody has written since. */
    const after = (days: number) => ({
      listOf: store.listOf,
      remove: store.remove,
      async read(each: CredentialRef) {
        const stored = await store.read(each);
        return stored && { ...stored, now: stored.now + days * 86_400_000 };
      },
    });
    await deleteUnusedTokens(after(6), used);
    expect(await kept()).toEqual([true, true, true]);
    await deleteUnusedTokens(after(8), used);
    expect(await kept()).toEqual([true, false, false]);
    const { credentials } = await store.listOf(PROJECT);
    expect(credentials).toContainEqual(refs[0]);
    expect(credentials).not.toContainEqual(refs[2]);
  });

  it('replaces what was obtained under other keys, and tells when its client is refused', async () => {
    const server = await startTracker();
    const { authorization } = server;
    const first = await openPod('backend', server);
    expect(await first.call()).toContain('issues');
    const projectKeys = newKeys();
    const other = await openPod('second', server, { projectKeys });
    expect(await other.call()).toContain('issues');
    expect(authorization.tokenCalls('client_credentials')).toBe(2);
    const wrong = await openPod('second', server, { clientId: 'nobody', projectKeys });
    expect(await wrong.call()).toContain('gives this deployment no token');
    for (const pod of [first, other, wrong]) pod.stop();
  });
});
