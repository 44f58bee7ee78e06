import { createServer, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createOidcIdentity, type OidcOptions } from '../../../services/api/src/pages/identity/oidc.ts';
import { listenOnFreePort } from '../../harness/free-port.ts';

const REDIRECT_URI = 'http://127.0.0.1:9/auth/signed-in';

interface Said {
  /** Over the claims of a good ID token; `undefined` takes one away. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** The claims that only the userinfo endpoint returns. */
  readonly userinfo?: Readonly<Record<string, unknown>>;
  readonly signedBy?: 'somebody else' | 'nobody';
  /** Over the metadata of a good provider. */
  readonly metadata?: object;
}

/** Signs in at a provider with these claims. */
async function signInWith(said: Said, options: Partial<OidcOptions> = {}) {
  const [own, other] = [await generateKeyPair('ES256'), await generateKeyPair('ES256')];
  const json = (res: ServerResponse, body: unknown) =>
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const server = createServer(async (req, res) => {
    switch (req.url) {
      case '/.well-known/openid-configuration':
        return json(res, {
          issuer,
          authorization_endpoint: `${issuer}/auth`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/jwks`,
          userinfo_endpoint: `${issuer}/me`,
          id_token_signing_alg_values_supported: ['ES256'],
          ...said.metadata,
        });
      case '/jwks':
        return json(res, {
          keys: [{ ...(await exportJWK(own.publicKey)), alg: 'ES256', use: 'sig', kid: 'k' }],
        });
      case '/me':
        return json(res, { sub: 'ada', ...said.userinfo });
      default: {
        req.resume();
        const id_token = await idToken();
        return json(res, { access_token: 'at', token_type: 'Bearer', expires_in: 60, id_token });
      }
    }
  });
  const issuer = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const identity = createOidcIdentity({
    issuer,
    clientId: 'parley',
    redirectUri: REDIRECT_URI,
    userClaim: 'sub',
    tenants: ['acme'],
    allowLoopbackHttp: true,
    ...options,
  });
  const start = await identity.begin({ anew: false });
  if ('type' in start) throw new Error(start.detail);
  const sent = new URL(start.url).searchParams;

  async function idToken(): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const good = {
      iss: issuer,
      aud: 'parley',
      sub: 'ada',
      nonce: sent.get('nonce'),
      iat: now,
      exp: now + 60,
    };
    const claims = { ...good, ...said.claims };
    if (said.signedBy === 'nobody') {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      return `${part({ alg: 'none' })}.${part(claims)}.`;
    }
    const key = said.signedBy === undefined ? own.privateKey : other.privateKey;
    return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'k' }).sign(key);
  }

  const back = new URLSearchParams({ code: 'code', state: start.state });
  return { sent, result: await identity.finish(`${REDIRECT_URI}?${back}`, start.callbackState) };
}

const person = (tenant: string, userId: string, name = userId) => ({
  type: 'signed-in',
  person: { tenant, userId, name },
});

describe('a sign-in at an OpenID provider', () => {
  test('uses PKCE, state and nonce, and the smallest scope', async () => {
    const { sent, result } = await signInWith({});
    expect(result).toEqual(person('acme', 'ada'));
    expect(sent.get('code_challenge_method')).toBe('S256');
    expect(sent.get('scope')).toBe('openid profile');
    expect([sent.get('state')?.length, sent.get('nonce')?.length]).toEqual([43, 43]);
    expect(sent.has('prompt')).toBe(false);
  });

  test.each([
    ['that names another issuer', { issuer: 'https://evil.example' }, 'names another issuer'],
    [
      'with an endpoint that may not be called',
      { authorization_endpoint: 'http://evil.example/auth' },
      'cannot be had',
    ],
  ])('that cannot begin says why: metadata %s', async (_what, metadata, detail) => {
    await expect(signInWith({ metadata })).rejects.toThrow(`the metadata of the sign-in ${detail}`);
  });

  test('uses the subject of the provider as the user id', async () => {
    expect((await signInWith({ claims: { name: ' Ada L. ' } })).result).toEqual(
      person('acme', 'ada', 'Ada L.'),
    );
    const username = { claims: { name: '', preferred_username: 'al' } };
    expect((await signInWith(username)).result).toEqual(person('acme', 'ada', 'al'));
  });

  test('takes the user from another claim where configured', async () => {
    const options = { userClaim: 'employee' };
    expect((await signInWith({ claims: { employee: 'e7' } }, options)).result).toEqual(person('acme', 'e7'));
    expect((await signInWith({ userinfo: { employee: 'e8' } }, options)).result).toEqual(
      person('acme', 'e8'),
    );
  });

  test('accepts a verified email address', async () => {
    const options = { userClaim: 'email' };
    const claims = { email: 'ada@example.com', email_verified: true };
    expect((await signInWith({ claims }, options)).result).toEqual(person('acme', 'ada@example.com'));
  });

  test('takes the tenant from its claim where there are several', async () => {
    const options = { tenants: ['acme', 'other'] };
    expect((await signInWith({ claims: { tenant: 'other' } }, options)).result).toEqual(
      person('other', 'ada'),
    );
  });

  const lets: readonly [string, Said, Partial<OidcOptions>?][] = [
    ['a token with the signature of another', { signedBy: 'somebody else' }],
    ['an unsigned token', { signedBy: 'nobody' }],
    ['the token of another sign-in', { claims: { nonce: 'n'.repeat(43) } }],
    ['a token without a nonce', { claims: { nonce: undefined } }],
    ['a token for another audience', { claims: { aud: 'other' } }],
    ['a token from somewhere else', { claims: { iss: 'https://evil.example' } }],
    ['a token that is over', { claims: { exp: 1 } }],
    ['no claim that names the user', {}, { userClaim: 'employee' }],
    ['a claim that is no text', { claims: { employee: 7 } }, { userClaim: 'employee' }],
    ['a claim that is empty', { claims: { employee: '' } }, { userClaim: 'employee' }],
    ['a claim that no user can have', { claims: { employee: 'x'.repeat(300) } }, { userClaim: 'employee' }],
    ['an unverified email address', { claims: { email: 'a@b.example' } }, { userClaim: 'email' }],
    [
      'an email address that failed to verify',
      { claims: { email: 'a@b.example', email_verified: false } },
      { userClaim: 'email' },
    ],
    ['no tenant', {}, { tenants: ['acme', 'other'] }],
    ['another tenant', { claims: { tenant: 'evil' } }, { tenants: ['acme', 'other'] }],
    ['userinfo about another user', { userinfo: { sub: 'bob', employee: 'e7' } }, { userClaim: 'employee' }],
  ];
  test.each(lets)('with %s is refused', async (_what, said, options) => {
    expect((await signInWith(said, options)).result).toMatchObject({ type: 'failed' });
  });
});
