import { randomUUID } from 'node:crypto';
import { createGuardedFetch } from '@parley/shared/net/guarded-fetch';
import { createRefresher } from '@parley/shared/vault/refresh';
import { createVault } from '@parley/shared/vault/vault';
import { expect, it, test } from 'vitest';
import { createMcpOAuthConnector } from '../../../services/api/src/accounts/connectors/mcp-oauth/mcp-oauth.ts';
import { createCredentials } from '../../../services/api/src/accounts/credentials.ts';
import { disconnect, disconnectAll } from '../../../services/api/src/accounts/disconnect.ts';
import { createManagedAccounts } from '../../../services/api/src/accounts/managed/accounts.ts';
import { createSignIns } from '../../../services/api/src/accounts/managed/sign-ins.ts';
import { signInOf } from '../../../services/api/src/accounts/oauth/company.ts';
import { createOidcIdentity } from '../../../services/api/src/pages/identity/oidc.ts';
import { type CompanyPolicy, TOKEN_EXCHANGE } from '../../../stand-ins/authorization-server/assertions.ts';
import { createTokenVerifier } from '../../../stand-ins/authorization-server/verify.ts';
import { walkSignIn } from '../../../stand-ins/authorization-server/walk.ts';
import { JWT_BEARER } from '../../../stand-ins/authorization-server/workloads.ts';
import { describeOnRedis } from '../../harness/engines/describe-on-redis.ts';
import { CLIENT, REDIRECT_URI, startServer } from '../../harness/pages/connectors-setup.ts';
import { sightings } from '../../harness/pages/sightings.ts';
import { newKeys } from '../../harness/vault/stores.ts';
import { startGuardedTracker, startOddServer } from './mcp-oauth-setup.ts';

const API = { clientId: 'tracker-api', clientSecret: 'api-secret' };
const PAGES = { clientId: 'parley-pages', clientSecret: 'pages-secret' };
const REF = { toolId: 'tracker', connectorId: 'account' } as const;

/** The sign-in of the pages at a provider. */
function identityAt(issuer: string) {
  const rules = { userClaim: 'sub', tenants: ['acme'], connectsAccounts: true, allowLoopbackHttp: true };
  return createOidcIdentity({ issuer, ...PAGES, redirectUri: REDIRECT_URI, ...rules });
}

await describeOnRedis('an account that a company sign-in connects', (stores) => {
  const keys = newKeys();

  /** A company, a tracker that trusts it, and Ada, who has not signed in. */
  async function world({ bound = false, tokenSeconds = 600, callMs = 20_000 } = {}) {
    const policy: CompanyPolicy = { clients: new Map(), refused: new Map() };
    const company = await startServer({
      name: 'Company',
      resources: [],
      clients: [{ ...PAGES, redirectUris: [REDIRECT_URI], firstParty: true, exchanges: true }],
      company: policy,
    });
    const { serverUrl, authorization } = await startGuardedTracker({
      bound,
      ...(bound && { bindsTokens: true }),
      accessTokenSeconds: tokenSeconds,
      clients: [
        { ...API, redirectUris: [] },
        { ...CLIENT, redirectUris: [REDIRECT_URI], managed: true },
      ],
      trusts: company.issuer,
    });
    policy.clients.set(authorization.issuer, CLIENT.clientId);
    const ada = { tenant: 'acme', userId: `ada ${randomUUID()}` };
    const ref = { ...ada, ...REF };
    const identity = identityAt(company.issuer);

    let looked = () => {};
    let renewed = (_outcome: string) => {};

    function pod(name: 'backend' | 'second') {
      const { vault: store } = stores[name];
      const vault = createVault({ store, keys });
      const fresh = createRefresher({
        vault,
        leases: store,
        settings: { callMs },
        onRefresh: (outcome) => renewed(outcome),
      });
      const signIns = createSignIns({ vault, fresh, company: identity.company });
      const connector = createMcpOAuthConnector(
        {
          id: REF.connectorId,
          serverUrl,
          issuer: authorization.issuer,
          client: CLIENT,
          redirectUri: REDIRECT_URI,
          clientName: 'Parley',
          allowLoopbackHttp: true,
          timeoutMs: 60_000,
        },
        { guardedFetch: createGuardedFetch({ allowLoopback: true }), grantFor: signIns.grantFor },
      );
      const credentials = createCredentials({
        vault,
        fresh,
        managed: createManagedAccounts({
          vault,
          freshCredential: fresh,
          signIns: { since: (owner) => signIns.since(owner).finally(() => looked()) },
        }),
        connectorOf: () => connector,
        completeOpen: async () => undefined,
        onFault: (error) => {
          throw error;
        },
      });
      const deps = {
        vault,
        store,
        signIns,
        onEvent: () => undefined,
        targets: { connector: () => connector, credentials: () => [] },
      };
      return {
        vault,
        signIns,
        connector,
        credentials,
        present: (rejected?: number) => credentials.present(ref, rejected),
        disconnect: () => disconnect(deps, ada, { toolId: REF.toolId, connector }),
        erase: () => disconnectAll(deps, ada),
      };
    }
    const [one, other] = [pod('backend'), pod('second')] as const;

    return {
      policy,
      company,
      authorization,
      serverUrl,
      ada,
      ref,
      one,
      other,
      /** Resolves when a pod has looked for the sign-in once more. */
      nextLook: () =>
        new Promise<void>((resolve) => {
          looked = resolve;
        }),
      /** Resolves with what becomes of the next token that is obtained. */
      nextRenewal: () =>
        new Promise<string>((resolve) => {
          renewed = resolve;
        }),
      /** How many assertions and tokens were requested. */
      calls: () => [company.tokenCalls(TOKEN_EXCHANGE), authorization.tokenCalls(JWT_BEARER)],
      async signIn() {
        const start = await identity.begin({ anew: false });
        if ('type' in start) throw new Error(start.detail);
        const back = await walkSignIn({ url: start.url, user: 'ada' });
        const result = await identity.finish(back, start.callbackState);
        if (result.type === 'failed' || result.signIn === undefined) throw new Error('expected a sign-in');
        await one.signIns.save(ada, result.signIn);
        return result.signIn;
      },
      /** Ends the tokens as time does. */
      async expire() {
        const held = (await one.vault.read(ref))?.credential.reveal();
        if (held?.kind !== 'oauth2') throw new Error('expected tokens');
        await one.vault.save(ref, { ...held, expiresAt: Date.now() - 1_000 });
      },
    };
  }

  it('is connected once for all calls on all pods, for its server alone, and again when the tokens end', async () => {
    const { one, other, signIn, calls, expire, authorization, serverUrl, ref } = await world();
    expect(await one.present()).toEqual({ type: 'absent' });
    await signIn();
    const all = () => Promise.all([one, other, one, other].map((pod) => pod.present()));
    const shown = await all();
    expect(new Set(shown.map(({ type }) => type))).toEqual(new Set(['presented']));
    expect(new Set(shown.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(calls()).toEqual([1, 1]);
    const credential = (await other.vault.read(ref))?.credential.reveal();
    expect(credential).toMatchObject({ managed: true, scope: 'issues:read' });
    expect(credential).not.toHaveProperty('refreshToken');
    const token = credential?.kind === 'oauth2' ? credential.accessToken : '';
    const verified = (resource: string) =>
      createTokenVerifier({ issuer: authorization.issuer, ...API, resource })(token);
    expect(await verified(serverUrl)).toEqual({ subject: 'ada', scopes: ['issues:read'] });
    expect(await verified('http://127.0.0.1:9/other')).toBeUndefined();

    await expire();
    await all();
    expect(calls()).toEqual([2, 2]);
  });

  it('has tokens that are bound to a key where both servers can', async () => {
    const { one, signIn } = await world({ bound: true });
    await signIn();
    const shown = await one.present();
    expect(shown).toMatchObject({ headers: { authorization: expect.stringMatching(/^DPoP /) } });
    expect(shown).toHaveProperty('proofKey');
  });

  it.each(['access_denied', 'invalid_grant', 'interaction_required'])(
    'is asked for where the company refuses with %s: tried once, and again after a new sign-in',
    async (code) => {
      const { one, other, signIn, calls, policy } = await world();
      policy.refused.set('ada', code);
      await signIn();
      for (const pod of [one, one, other]) expect(await pod.present()).toEqual({ type: 'absent' });
      expect(calls()).toEqual([1, 0]);
      policy.refused.clear();
      await signIn();
      expect((await other.present()).type).toBe('presented');
    },
  );

  it('is asked for where the authorization server refuses the assertion', async () => {
    const { one, signIn, calls, policy, authorization } = await world();
    policy.clients.set(authorization.issuer, 'somebody else');
    await signIn();
    await one.present();
    policy.clients.set(authorization.issuer, CLIENT.clientId);
    const refuse = authorization.misbehave({ at: 'token', status: 400, error: 'invalid_grant' });
    await signIn();
    await one.present();
    refuse();
    expect(await one.present()).toEqual({ type: 'absent' });
    // The assertion for another client was not sent.
    expect(calls()).toEqual([2, 1]);
  });

  it.each(['company', 'authorization'] as const)(
    'is unavailable while the server of its %s is down, which refuses nothing',
    async (name) => {
      const here = await world();
      await here.signIn();
      const recover = here[name].misbehave({ at: 'token', status: 503 });
      expect(await here.one.present()).toEqual({ type: 'unavailable' });
      recover();
      expect((await here.other.present()).type).toBe('presented');
    },
  );

  it('stays disconnected until the person connects it by hand, whatever is under way', async () => {
    const { one, other, ref, ada, signIn, calls, nextLook, authorization } = await world();
    await signIn();
    await one.present();
    expect(await one.disconnect()).toBe('revoked');
    await signIn();
    for (const pod of [one, other]) expect(await pod.present()).toEqual({ type: 'absent' });
    expect(calls()).toEqual([1, 1]);

    // Disconnected while another pod obtains tokens.
    await one.erase();
    await signIn();
    const fast = authorization.misbehave({ at: 'token', delayMs: 600_000 });
    const [shown] = await Promise.all([
      other.present(),
      expect
        .poll(() => calls()[0])
        .toBe(2)
        .then(() => one.disconnect())
        .then(fast),
    ]);
    expect([shown, await one.present()]).toEqual([{ type: 'absent' }, { type: 'absent' }]);

    // Disconnected while another pod waits for the lease.
    await one.erase();
    await signIn();
    await stores.backend.vault.lease(ref, 'somebody', 60_000);
    const looked = nextLook();
    const waiting = other.present();
    await looked;
    await one.disconnect();
    await stores.backend.vault.release(ref, 'somebody');
    expect([await waiting, calls()[0]]).toEqual([{ type: 'absent' }, 2]);

    // By hand, and then by the sign-in when that has ended.
    const tokens = { kind: 'oauth2', accessToken: 'by-hand', tokenType: 'Bearer' } as const;
    const grantor = (await one.connector.obtainFor?.(ada)) ?? { type: 'failed' };
    const known =
      grantor.type === 'refreshed' && grantor.credential.kind === 'oauth2' ? grantor.credential : undefined;
    await one.vault.save(ref, { ...tokens, ...(known?.grantor && { grantor: known.grantor }) });
    const byHand = await one.present();
    expect(byHand).toMatchObject({ headers: { authorization: 'Bearer by-hand' } });
    const version = byHand.type === 'presented' ? byHand.version : 0;
    const replaced = await other.present(version);
    expect(replaced).toMatchObject({ type: 'presented' });
    expect(replaced).not.toMatchObject({ headers: { authorization: 'Bearer by-hand' } });
  });

  it('gets more scopes without a question, and keeps what it has where they are refused', async () => {
    const { one, other, ref, signIn, authorization } = await world();
    await signIn();
    const scopeOf = async () => {
      const shown = await other.present();
      return shown.type === 'presented' ? shown.scope : shown.type;
    };
    await one.present();
    const refuse = authorization.misbehave({ at: 'token', status: 400, error: 'invalid_scope' });
    await one.credentials.widen(ref, 'issues:read issues:write');
    refuse();
    expect(await scopeOf()).toBe('issues:read');
    await one.credentials.widen(ref, 'issues:read issues:write');
    expect(await scopeOf()).toBe('issues:read issues:write');
    await one.disconnect();
    await one.credentials.widen(ref, 'issues:read');
    expect(await scopeOf()).toBe('absent');
  });

  it('is asked for once the server has refused new tokens, too', async () => {
    const { one, ref, signIn } = await world();
    await signIn();
    const first = await one.present();
    const second = await one.present(first.type === 'presented' ? first.version : 0);
    await one.credentials.refused(ref, second.type === 'presented' ? second.version : 0);
    expect(await one.present()).toEqual({ type: 'absent' });
  });

  it('renews the sign-in on one pod, and ends with it', async () => {
    const { one, other, ada, ref, signIn, calls, company, expire } = await world();
    const kept = await signIn();
    await one.present();
    const lapse = () => one.signIns.save(ada, { ...kept, expiresAt: Date.now() - 1_000 });
    await lapse();
    await expire();
    await Promise.all([one.present(), other.present()]);
    expect([company.tokenCalls('refresh_token'), ...calls()]).toEqual([1, 2, 2]);
    await one.signIns.end(ada);
    // Revoked at the company, too.
    await lapse();
    await expire();
    expect(await one.present()).toEqual({ type: 'absent' });
    expect(
      await other.vault.read({ ...ref, toolId: 'parley:sign-in', connectorId: 'sign-in' }),
    ).toMatchObject({
      state: 'reconnect_required',
    });
  });

  it('is not connected for a person who is erased while it is obtained', async () => {
    const { one, other, ref, ada, signIn, calls, authorization } = await world();
    await signIn();
    const fast = authorization.misbehave({ at: 'token', delayMs: 600_000 });
    const [shown] = await Promise.all([
      other.present(),
      expect
        .poll(() => calls()[0])
        .toBe(1)
        .then(() => one.erase())
        .then(fast),
    ]);
    expect(shown.type).toBe('absent');
    expect(await one.vault.read(ref)).toBeUndefined();
    expect(await stores.backend.vault.listOf(ada)).toEqual({ credentials: [], staged: [] });
  });

  it('has no token that came after the call for it had ended, when nobody looks who was erased', async () => {
    const { one, ref, signIn, nextRenewal } = await world({ callMs: 1 });
    await signIn();
    const renewal = nextRenewal();
    expect(await one.present()).toEqual({ type: 'unavailable' });
    expect(await renewal).toBe('failed');
    expect(await one.vault.read(ref)).toBeUndefined();
  });
});

const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';
const good = { access_token: 'a.b.c', issued_token_type: ID_JAG, token_type: 'N_A' };

test.each<
  [name: string, reply: { status?: number; headers?: Record<string, string>; body?: unknown }, code: string]
>([
  ['no assertion', { body: good }, 'invalid_grant'],
  ['a token of another type', { body: { ...good, issued_token_type: 'urn:x' } }, 'invalid_grant'],
  ['an access token', { body: { access_token: 'a', token_type: 'Bearer' } }, 'invalid_grant'],
  ['no JSON', { body: '<html>' }, 'invalid_grant'],
  ['a redirect', { status: 307, headers: { location: 'http://127.0.0.1:9/' } }, 'invalid_grant'],
  ['a refusal', { status: 403, body: { error: 'access_denied' } }, 'invalid_grant'],
  ['too much', { body: { ...good, access_token: 'x'.repeat(600_000) } }, 'unavailable'],
  ['an error of its own', { status: 500, body: 'down' }, 'unavailable'],
])(
  'a company that replies with %s gives no assertion, and its reply is not told',
  async (_name, reply, code) => {
    const odd = await startOddServer((origin) => ({
      '/.well-known/openid-configuration': {
        body: { issuer: origin, authorization_endpoint: `${origin}/auth`, token_endpoint: `${origin}/token` },
      },
      '/token': reply,
    }));
    const idToken = `eyJ.${Buffer.from('{"sub":"ada"}').toString('base64url')}.canary`;
    const signIn = signInOf({ id_token: idToken }, { exp: 1 });
    if (signIn === undefined) throw new Error('expected a sign-in');
    const target = {
      audience: 'http://127.0.0.1:9',
      resource: 'http://127.0.0.1:9/mcp',
      clientId: 'c',
      scopes: [],
    };
    const result = await identityAt(odd.origin).company.exchange(signIn, target);
    expect(result).toMatchObject({ type: 'failed', code });
    expect(sightings('canary', result)).toEqual([]);
    expect(odd.requested.filter((one) => one === 'POST /token')).toHaveLength(1);
  },
);

test('a company whose metadata names another issuer gets nothing', async () => {
  const odd = await startOddServer(() => ({
    '/.well-known/openid-configuration': {
      body: { issuer: 'http://127.0.0.1:9', token_endpoint: 'http://127.0.0.1:9/token' },
    },
  }));
  const signIn = signInOf({ id_token: 'a.b.c' }, { exp: 1 });
  const target = { audience: 'a', resource: 'r', clientId: 'c', scopes: [] };
  const result = signIn && (await identityAt(odd.origin).company.exchange(signIn, target));
  expect(result).toMatchObject({ type: 'failed', code: 'unavailable' });
});
