import { createHmac } from 'node:crypto';

interface TokenClaims {
  readonly user: string;
  readonly tenant: string;
  readonly secret: string;
  readonly expires: number;
  readonly audience?: string;
  readonly issuer?: string;
}

/** Signs a JSON Web Token (RFC 7519) with HS256. */
export function signToken({ user, tenant, secret, expires, audience, issuer }: TokenClaims): string {
  const now = Math.floor(Date.now() / 1_000);
  const claims = { sub: user, tenant, iat: now, exp: now + expires, aud: audience, iss: issuer };
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const input = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`;
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
}
