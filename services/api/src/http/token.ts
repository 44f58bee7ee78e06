import { ParleyError } from '@parley/shared/domain/errors';
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyResult, jwtVerify } from 'jose';

export interface VerifiedUser {
  readonly tenant: string;
  readonly userId: string;
  /** When the token is no longer accepted, on this pod's clock. */
  readonly expiresAtMs: number;
}

/** Verifies a user token; throws `unauthenticated`, or `unavailable` when the issuer's keys cannot be had. */
export type TokenVerifier = (token: string) => Promise<VerifiedUser>;

export interface TokenOptions {
  readonly secret?: string;
  readonly jwksUrl?: string;
  readonly issuer?: string;
  readonly audience?: string;
  /** Tenants that the issuer of the JWKS speaks for. */
  readonly tenants: readonly string[];
  readonly userClaim: string;
  /** How long after its `iat` a token without `exp` is accepted; one day when absent. */
  readonly maxAgeSeconds?: number;
}

const CLOCK_TOLERANCE_SECONDS = 30;
const MAX_AGE_SECONDS = 86_400;
// Never a mix: with a public key among the accepted ones, HS256 would let its text sign tokens.
const PUBLIC_KEY_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
];
const TYPES = new Set(['JWT', 'AT+JWT']);
const TENANT = /^[A-Za-z0-9._-]{1,128}$/;

/** A verifier for HS256 with a shared secret, or for an issuer's JWKS; nothing when neither is configured. */
export function createTokenVerifier(options: TokenOptions): TokenVerifier | undefined {
  const bound = {
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    ...(options.issuer !== undefined && { issuer: options.issuer }),
    ...(options.audience !== undefined && { audience: options.audience }),
  };
  const { secret, jwksUrl } = options;
  if (jwksUrl !== undefined) {
    const keys = createRemoteJWKSet(new URL(jwksUrl), { timeoutDuration: 3_000 });
    const tenants = options.tenants.length > 0 ? options.tenants : ['default'];
    return async (token) => {
      const verified = await verified401(() =>
        jwtVerify(token, keys, { ...bound, algorithms: PUBLIC_KEY_ALGORITHMS }),
      );
      return userOf(verified, options, (claim) => tenantAmong(tenants, claim));
    };
  }
  if (secret === undefined) return undefined;
  const key = new TextEncoder().encode(secret);
  return async (token) => {
    const verified = await verified401(() => jwtVerify(token, key, { ...bound, algorithms: ['HS256'] }));
    return userOf(verified, options, (claim) => claim ?? 'default');
  };
}

async function verified401(run: () => Promise<JWTVerifyResult>): Promise<JWTVerifyResult> {
  try {
    return await run();
  } catch (error) {
    if (isKeyOutage(error)) {
      throw new ParleyError(
        'unavailable',
        'The keys of the token issuer cannot be read right now; try again shortly.',
        {
          retryAfterSeconds: 5,
          cause: error,
        },
      );
    }
    throw unauthenticated();
  }
}

/** True when the issuer's keys could not be fetched: that says nothing about the token. */
function isKeyOutage(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return true;
  if (error instanceof errors.JOSEError) return error.code === 'ERR_JOSE_GENERIC';
  return error instanceof TypeError && error.message === 'fetch failed';
}

function userOf(
  { payload, protectedHeader }: JWTVerifyResult,
  { userClaim, maxAgeSeconds = MAX_AGE_SECONDS }: TokenOptions,
  tenantOf: (claim: string | undefined) => string | undefined,
): VerifiedUser {
  if (protectedHeader.typ !== undefined && !TYPES.has(protectedHeader.typ.toUpperCase()))
    throw unauthenticated();
  if (isUnverified(userClaim, payload)) throw unauthenticated();
  const userId = payload[userClaim];
  const tenant = tenantOf(tenantClaim(payload));
  if (typeof userId !== 'string' || tenant === undefined || !TENANT.test(tenant)) throw unauthenticated();
  const expiresAtMs = expiryOf(payload, maxAgeSeconds);
  if (expiresAtMs <= Date.now()) throw unauthenticated();
  return { tenant, userId, expiresAtMs };
}

/**
 * True when the claim that names the user is an e-mail address that the issuer has not verified. Where people may write
 * any address into their profile, such a claim would let them act as anybody.
 */
export function isUnverified(userClaim: string, claims: Readonly<Record<string, unknown>>): boolean {
  return userClaim === 'email' && claims.email_verified !== true;
}

function tenantClaim(payload: JWTPayload): string | undefined {
  const claim = payload.tenant;
  if (claim === undefined) return undefined;
  if (typeof claim !== 'string') throw unauthenticated();
  return claim;
}

/** The named tenant if the issuer speaks for it; a missing claim means the only one there is. */
function tenantAmong(tenants: readonly string[], claim: string | undefined): string | undefined {
  if (claim !== undefined) return tenants.includes(claim) ? claim : undefined;
  return tenants.length === 1 ? tenants[0] : undefined;
}

/** A token with neither `exp` nor `iat` has no age: each of its streams lasts that long, and it stays valid. */
function expiryOf({ exp, iat }: JWTPayload, maxAgeSeconds: number): number {
  if (exp !== undefined) return (exp + CLOCK_TOLERANCE_SECONDS) * 1000;
  const from = typeof iat === 'number' ? iat * 1000 : Date.now();
  return from + maxAgeSeconds * 1000;
}

/** One answer for every way a token can be wrong. */
export function unauthenticated(): ParleyError {
  return new ParleyError('unauthenticated', 'Send a valid bearer token in the Authorization header.');
}
