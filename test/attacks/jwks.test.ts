import { createHmac } from 'node:crypto';
import { createServer, IncomingMessage, type Server } from 'node:http';
import { Socket } from 'node:net';
import { parseServiceKeys } from '@parley/shared/config/service-keys';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createAuthenticate } from '../../services/api/src/http/auth.ts';
import { createTokenVerifier, unauthenticated } from '../../services/api/src/http/token.ts';
import { call, expectProblem } from '../harness/attacks/call.ts';
import { listenOnFreePort } from '../harness/free-port.ts';
import { type Pod, startPod } from '../harness/processes/processes.ts';
import { forgedTokens, userToken } from '../harness/tokens.ts';
import { waitUntil } from '../harness/wait-until.ts';

const ISSUER = 'https://issuer.example/';
const AUDIENCE = 'parley';
const KID = 'key-1';

type Mode = 'up' | 'down' | '500' | 'html' | 'no keys' | 'elsewhere';

/** An issuer whose keys can be had, or not. */
interface Issuer {
  readonly url: string;
  mode: Mode;
  /** How often the keys were asked for. */
  readonly asked: () => number;
  close(): void;
}

async function startIssuer(...jwks: readonly object[]): Promise<Issuer> {
  let asked = 0;
  const server: Server = createServer((_req, res) => {
    asked += 1;
    if (issuer.mode === 'down') return res.socket?.destroy();
    if (issuer.mode === '500') return res.writeHead(500).end('no');
    if (issuer.mode === 'html') return res.writeHead(200).end('<html></html>');
    if (issuer.mode === 'no keys') return res.end('{"error":"later"}');
    if (issuer.mode === 'elsewhere') return res.writeHead(302, { location: '/other' }).end();
    return res.end(JSON.stringify({ keys: jwks }));
  });
  const port = await listenOnFreePort(server);
  const issuer: Issuer = {
    url: `http://127.0.0.1:${port}/jwks.json`,
    mode: 'up',
    asked: () => asked,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return issuer;
}

const keys = await generateKeyPair('RS256', { extractable: true });
const strangers = await generateKeyPair('RS256', { extractable: true });

let issuer: Issuer;
let several: Pod;
let single: Pod;

beforeAll(async () => {
  issuer = await startIssuer({ ...(await exportJWK(keys.publicKey)), kid: KID, alg: 'RS256', use: 'sig' });
  const env = {
    PARLEY_JWT_JWKS_URL: issuer.url,
    PARLEY_JWT_ISSUER: ISSUER,
    PARLEY_JWT_AUDIENCE: AUDIENCE,
    PARLEY_LOG_LEVEL: 'debug',
  };
  [several, single] = await Promise.all([
    startPod({ ...env, PARLEY_JWT_TENANTS: 'acme,globex' }),
    startPod({ ...env, PARLEY_JWT_TENANTS: 'acme' }),
  ]);
});
afterAll(async () => {
  await Promise.all([several?.stop(), single?.stop()]);
  issuer?.close();
});

interface Claims {
  readonly [claim: string]: unknown;
}

function rs256(claims: Claims = {}, header: object = {}, key = keys.privateKey): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  const all = { sub: 'ada', tenant: 'acme', iss: ISSUER, aud: AUDIENCE, exp: now + 600, ...claims };
  return new SignJWT(all).setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: KID, ...header }).sign(key);
}

/** A verifier of this issuer's tokens. */
const OF_ISSUER = () => ({
  jwksUrl: issuer.url,
  issuer: ISSUER,
  audience: AUDIENCE,
  tenants: ['acme'],
  userClaim: 'sub',
});

const list = (pod: Pod, token: string) => call(pod.url, { path: '/v1/elicitations', token });

describe("S14 tokens of an issuer's keys", () => {
  // First, while no pod has the keys yet.
  it.each<Mode>(['down', '500', 'html', 'no keys', 'elsewhere'])(
    'a token is 503 while the keys cannot be read (%s)',
    async (mode) => {
      issuer.mode = mode;
      expectProblem(await list(several, await rs256()), 503, 'unavailable');
      // A text that is no token still gets its own refusal.
      expectProblem(await list(several, 'not-a-token'), 401, 'unauthenticated');
    },
  );

  it('tokens are accepted again when the keys are available again', async () => {
    issuer.mode = 'up';
    expect((await list(several, await rs256())).status).toBe(200);
    expect((await list(single, await rs256())).status).toBe(200);
  });

  it.each<[string, Claims, object?]>([
    ['another issuer', { iss: 'https://evil.example/' }],
    ['an issuer that begins alike', { iss: `${ISSUER}evil` }],
    ['no issuer', { iss: undefined }],
    ['another audience', { aud: 'billing' }],
    ['no audience', { aud: undefined }],
    ['an audience of others', { aud: ['billing', 'mail'] }],
    ['an expiry in the past', { exp: 1 }],
    ['a start in the future', { nbf: 4_000_000_000 }],
    ['no user', { sub: undefined }],
    ['a tenant it does not speak for', { tenant: 'initech' }],
    ['the tenant of the prototype', { tenant: '__proto__' }],
    ['tenants as a list', { tenant: ['acme'] }],
    ['another kind of token', {}, { typ: 'dpop+jwt' }],
    ['an unknown kid', {}, { kid: 'key-2' }],
    ['a kid that walks', {}, { kid: '../../dev/null' }],
    ['an unknown critical header', {}, { crit: ['x'], x: 1 }],
  ])('a token with %s is 401', async (_what, claims, header = {}) => {
    const token = await rs256(claims, header).catch(() => handMade(claims, header));
    for (const pod of [several, single]) expectProblem(await list(pod, token), 401, 'unauthenticated');
  });

  it('a key of another under the right key id is 401', async () => {
    const token = await rs256({}, {}, strangers.privateKey);
    expectProblem(await list(several, token), 401, 'unauthenticated');
  });

  it('every forged token is 401 with keys of an issuer too', async () => {
    const publicKeyPem = await exportSPKI(keys.publicKey);
    const options = { secret: 'a-secret', userId: 'ada', tenant: 'acme', publicKeyPem };
    for (const { token } of forgedTokens({ ...options, claims: { iss: ISSUER, aud: AUDIENCE } })) {
      expectProblem(await list(several, token), 401, 'unauthenticated');
    }
  });

  it('a token without a tenant is accepted where there is only one tenant', async () => {
    const token = await rs256({ tenant: undefined });
    expect((await list(single, token)).status).toBe(200);
    expectProblem(await list(several, token), 401, 'unauthenticated');
    const globex = await rs256({ tenant: 'globex' });
    expect((await list(several, globex)).status).toBe(200);
    expectProblem(await list(single, globex), 401, 'unauthenticated');
  });

  it('tokens with unknown key ids do not cause repeated requests to the issuer', async () => {
    const before = issuer.asked();
    const startedAt = performance.now();
    for (let index = 0; index < 20; index += 1) {
      await list(several, await rs256({}, { kid: `key-${index + 10}` }));
    }
    // The keys are asked for again once in half a minute, however long the machine took.
    const halfMinutes = Math.floor((performance.now() - startedAt) / 30_000);
    expect(issuer.asked() - before).toBeLessThanOrEqual(1 + halfMinutes);
  });

  it('a token that was accepted before is accepted while the issuer is unavailable', async () => {
    issuer.mode = 'down';
    expect((await list(several, await rs256())).status).toBe(200);
  });

  it('no token appears in a log', () => {
    const said = [several, single].flatMap(({ lines, stderr }) => [...lines, ...stderr]).join('\n');
    expect(said).not.toMatch(/eyJ[\w-]+/);
    expect(said).not.toContain(issuer.url);
  });
});

/** A token that a library would not make. */
function handMade(claims: Claims, header: object, secret = 'a-secret'): string {
  const now = Math.floor(Date.now() / 1_000);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const payload = { sub: 'ada', tenant: 'acme', iss: ISSUER, aud: AUDIENCE, exp: now + 600, ...claims };
  const input = `${part({ alg: 'RS256', typ: 'JWT', ...header })}.${part(payload)}`;
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
}

it('a verified token is not accepted from the cache after its expiry', async () => {
  let checks = 0;
  const authenticate = createAuthenticate({
    serviceKeys: [],
    async verify() {
      checks += 1;
      if (checks > 1) throw unauthenticated();
      return { tenant: 'acme', userId: 'ada', expiresAtMs: Date.now() + 500 };
    },
  });
  const request = new IncomingMessage(new Socket());
  request.rawHeaders.push('Authorization', 'Bearer the-token');
  expect(await authenticate(request)).toMatchObject({ caller: { userId: 'ada' } });
  const isRefused = () =>
    authenticate(request).then(
      () => false,
      ({ code }) => code === 'unauthenticated',
    );
  await waitUntil(isRefused, { what: 'the token to run out' });
});

describe('the keys of an issuer that is unavailable', () => {
  const HOUR_MS = 3_600_000;
  const DAY = Math.floor(Date.now() / 1_000) + 86_400;

  it('are used for as long as configured, and a key that is not among them is no wrong token', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => {
      vi.useRealTimers();
      issuer.mode = 'up';
    });
    issuer.mode = 'up';
    const verify = createTokenVerifier({ ...OF_ISSUER(), keysKeptSeconds: 3_600 });
    const token = await rs256({ exp: DAY });
    expect(await verify?.(token)).toMatchObject({ userId: 'ada' });
    issuer.mode = 'down';
    vi.setSystemTime(Date.now() + HOUR_MS / 2);
    const asked = issuer.asked();
    for (let call = 0; call < 5; call += 1) expect(await verify?.(token)).toMatchObject({ userId: 'ada' });
    // An issuer that did not answer is left alone for a moment.
    expect(issuer.asked()).toBe(asked + 1);
    await expect(verify?.(await rs256({ exp: DAY }, { kid: 'new' }))).rejects.toMatchObject({
      code: 'unavailable',
    });
    vi.setSystemTime(Date.now() + HOUR_MS);
    await expect(verify?.(token)).rejects.toMatchObject({ code: 'unavailable' });
    issuer.mode = 'up';
    vi.setSystemTime(Date.now() + 60_000);
    expect(await verify?.(token)).toMatchObject({ userId: 'ada' });
  });
});

describe('tokens as issuers write them', () => {
  it.each(['JWT', 'jwt', 'at+jwt', 'application/at+jwt', undefined])(
    'are accepted with the type %s',
    async (typ) => {
      expect(await createTokenVerifier(OF_ISSUER())?.(await rs256({}, { typ }))).toMatchObject({
        userId: 'ada',
      });
    },
  );

  it('are accepted without a key id where several keys may be theirs, and refused where none is', async () => {
    const other = await generateKeyPair('RS256', { extractable: true });
    const both = await startIssuer(
      { ...(await exportJWK(other.publicKey)), kid: 'key-0', alg: 'RS256' },
      { ...(await exportJWK(keys.publicKey)), kid: KID, alg: 'RS256' },
    );
    onTestFinished(both.close);
    const verify = createTokenVerifier({ ...OF_ISSUER(), jwksUrl: both.url });
    expect(await verify?.(await rs256({}, { kid: undefined }))).toMatchObject({ userId: 'ada' });
    const ofAnother = await rs256({}, { kid: undefined }, strangers.privateKey);
    await expect(verify?.(ofAnother)).rejects.toMatchObject({ code: 'unauthenticated' });
  });
});

describe('a caller that is refused', () => {
  beforeAll(() => {
    issuer.mode = 'up';
  });

  /** What the log gets for requests with these headers. */
  async function reasonsOf(headers: readonly string[][]) {
    const reasons: string[] = [];
    const authenticate = createAuthenticate({
      serviceKeys: parseServiceKeys(['acme/billing/ask/2020-01-01:the-secret-of-billing']).keys,
      verify: createTokenVerifier(OF_ISSUER()),
      onRefused: (reason) => reasons.push(reason),
    });
    for (const values of headers) {
      const request = new IncomingMessage(new Socket());
      for (const value of values) request.rawHeaders.push('Authorization', value);
      await expect(authenticate(request)).rejects.toMatchObject({ code: 'unauthenticated' });
    }
    return reasons;
  }

  it('leaves the reason, and nothing of the token or the key', async () => {
    const wrong = [
      await rs256({ exp: 1 }),
      await rs256({ aud: 'billing' }),
      await rs256({ tenant: 'initech' }),
      await rs256({}, { typ: 'dpop+jwt' }),
      await rs256({}, {}, strangers.privateKey),
      await rs256({ sub: 'a\nb' }),
      'the-secret-of-billing',
      'the-secret-of-shipping',
      'x'.repeat(9_000),
    ];
    const headers = [
      ...wrong.map((token) => [`Bearer ${token}`]),
      ['Basic YTpi'],
      ['Bearer a', 'Bearer b'],
      [],
    ];
    expect(await reasonsOf(headers)).toEqual([
      'ERR_JWT_EXPIRED: exp',
      'ERR_JWT_CLAIM_VALIDATION_FAILED: aud',
      'the claim tenant names no tenant for which the issuer speaks',
      'the header typ names another kind of token',
      'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
      'the token names a user whose id cannot be one',
      'the service key billing has expired',
      'it is no service key of this deployment, and no user token',
      'the header Authorization holds no bearer token of at most 8 kB',
      'the header Authorization holds no bearer token of at most 8 kB',
      'the header Authorization was sent twice',
    ]);
  });
});

describe('the e-mail address as user id', () => {
  beforeAll(() => {
    issuer.mode = 'up';
  });

  const EMAIL = 'ada@example.com';
  const byJwks = () => createTokenVerifier({ ...OF_ISSUER(), userClaim: 'email' });
  const secret = 'a-secret-of-at-least-thirty-two-characters';
  const bySecret = () => createTokenVerifier({ secret, tenants: [], userClaim: 'email' });

  it.each([
    ['no word about it', {}],
    ['an unverified one', { email_verified: false }],
    ['the text "true"', { email_verified: 'true' }],
    ['the number 1', { email_verified: 1 }],
  ])('is refused with %s in the token', async (_what, claims) => {
    const all = { email: EMAIL, ...claims };
    await expect(byJwks()?.(await rs256(all))).rejects.toMatchObject({ code: 'unauthenticated' });
    const token = await userToken({ secret, userId: 'ada', claims: all });
    await expect(bySecret()?.(token)).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  it('is accepted once the issuer has verified it', async () => {
    const all = { email: EMAIL, email_verified: true };
    expect(await byJwks()?.(await rs256(all))).toMatchObject({ userId: EMAIL, tenant: 'acme' });
    const token = await userToken({ secret, userId: 'ada', claims: all });
    expect(await bySecret()?.(token)).toMatchObject({ userId: EMAIL });
  });
});
