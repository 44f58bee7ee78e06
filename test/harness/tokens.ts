import { createHmac, createSign, generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import { paced } from './pace.ts';

export type TokenOptions = {
  /** The HS256 secret, as in `PARLEY_JWT_SECRET`. */
  secret: string;
  userId: string;
  tenant?: string;
  /** 3,600 by default; negative for an expired token. */
  expiresInSeconds?: number;
  /** Put over the others. */
  claims?: Record<string, unknown>;
};

/** A user's token, HS256, as a deployment with `PARLEY_JWT_SECRET` takes it. */
export function userToken(options: TokenOptions): Promise<string> {
  return new SignJWT(claimsOf(options))
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .sign(new TextEncoder().encode(options.secret));
}

/**
 * Of a token that is accepted for six more seconds, more on a slow machine: until half a minute after its `exp`. A call that
 * takes longer to arrive is refused.
 */
export const EXPIRING_SECONDS = Math.round(paced(6_000) / 1_000) - 30;

export type ForgedToken = { name: string; token: string };

/**
 * Tokens that must all be 401 for a server that knows `secret`. Those with a fault in the claims or the header carry
 * a right signature, so that the fault alone is left to find. `publicKeyPem` is the server's public key for the
 * RS256-to-HS256 confusion, when it has one; else one is made.
 */
export function forgedTokens(options: TokenOptions & { publicKeyPem?: string }): ForgedToken[] {
  const { secret, publicKeyPem } = options;
  const claims = claimsOf(options);
  const { sub, ...withoutSub } = claims;
  const now = Math.floor(Date.now() / 1_000);
  const own = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const publicPem = publicKeyPem ?? own.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const hs256 = (payload: object, key = secret, header: object = {}) =>
    signed({ alg: 'HS256', typ: 'JWT', ...header }, payload, (input) =>
      createHmac('sha256', key).update(input).digest(),
    );
  const rs256 = (header: object) =>
    signed({ alg: 'RS256', typ: 'JWT', ...header }, claims, (input) =>
      createSign('RSA-SHA256').update(input).sign(own.privateKey),
    );
  const unsigned = (alg: string) => signed({ alg, typ: 'JWT' }, claims, () => Buffer.alloc(0));
  const good = hs256(claims);
  const [header = '', payload = '', signature = ''] = good.split('.');
  const otherPayload = part({ ...claims, sub: `${String(sub)}-other` });
  const tokens: Record<string, string> = {
    'alg none': unsigned('none'),
    'alg NoNe': unsigned('NoNe'),
    'alg none with the signature of a good token': `${unsigned('none')}${signature}`,
    'alg HS256 without a signature': `${header}.${payload}.`,
    'HS256 with the public key as the secret': hs256(claims, publicPem),
    'RS256 with a key of its own in the header': rs256({ jwk: own.publicKey.export({ format: 'jwk' }) }),
    'RS256 with a key to be fetched': rs256({ jku: 'http://127.0.0.1:1/jwks.json', kid: 'mine' }),
    'wrong secret': hs256(claims, `${secret}x`),
    'empty secret': hs256(claims, ''),
    expired: hs256({ ...claims, exp: now - 3_600 }),
    'exp as text': hs256({ ...claims, exp: 'never' }),
    'nbf in the future': hs256({ ...claims, nbf: now + 3_600 }),
    'missing sub': hs256(withoutSub),
    'empty sub': hs256({ ...claims, sub: '' }),
    'sub not a text': hs256({ ...claims, sub: { $ne: null } }),
    'kid that walks to an empty file': hs256(claims, '', { kid: '../../../../../../dev/null' }),
    'kid that selects a key by SQL': hs256(claims, 'mine', { kid: "x' UNION SELECT 'mine' -- " }),
    'kid that runs a command': hs256(claims, 'mine', { kid: '|echo mine' }),
    'kid of the prototype': hs256(claims, '[object Object]', { kid: '__proto__' }),
    'typ of another kind of token': hs256(claims, secret, { typ: 'logout+jwt' }),
    'unknown crit header': hs256(claims, secret, { crit: ['x-unheard-of'], 'x-unheard-of': true }),
    'truncated signature': good.slice(0, -4),
    'signature of another payload': `${header}.${otherPayload}.${signature}`,
    'payload that is not JSON': signed({ alg: 'HS256' }, 'hello', (input) =>
      createHmac('sha256', secret).update(input).digest(),
    ),
    'payload that is a list': hs256([claims]),
    'two parts': `${header}.${payload}`,
    'five parts, as if encrypted': `${header}.${payload}.${signature}.${signature}.${signature}`,
    garbage: 'not-a-token',
    dots: '..',
  };
  return Object.entries(tokens).map(([name, token]) => ({ name, token }));
}

function claimsOf({
  userId,
  tenant,
  expiresInSeconds = 3_600,
  claims,
}: TokenOptions): Record<string, unknown> {
  const now = Math.floor(Date.now() / 1_000);
  return {
    sub: userId,
    ...(tenant !== undefined && { tenant }),
    iat: now,
    exp: now + expiresInSeconds,
    ...claims,
  };
}

function signed(header: object, payload: unknown, sign: (input: string) => Buffer): string {
  const input = `${part(header)}.${part(payload)}`;
  return `${input}.${sign(input).toString('base64url')}`;
}

function part(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
}
