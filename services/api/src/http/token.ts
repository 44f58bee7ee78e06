/**
 * Verifies user tokens by a shared secret or an issuer's keys. Service keys and the choice between the two are in `auth.ts`.
 */

import { ParleyError } from '@parley/core/domain/errors';
import { TENANT_ID } from '@parley/core/domain/ids';
import {
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose';
import { createIssuerKeys, isKeyOutage } from './issuer-keys.ts';

interface VerifiedUser {
  readonly tenant: string;
  readonly userId: string;
  /** The OAuth client to which the issuer gave the token; absent if the token names none. */
  readonly clientId?: string;
  /** When the token expires, on this pod's clock. */
  readonly expiresAtMs: number;
}

/**
 * Verifies a user token. Throws `unauthenticated`, with the reason as the cause, or `unavailable` if the issuer's keys cannot
 * be fetched.
 */
export type TokenVerifier = (token: string) => Promise<VerifiedUser>;

export interface TokenOptions {
  readonly secret?: string;
  readonly jwksUrl?: string;
  readonly issuer?: string;
  readonly audience?: string;
  /** The tenants for which the issuer of the JWKS may speak. */
  readonly tenants: readonly string[];
  readonly userClaim: string;
  /** How long after its `iat` a token without `exp` is accepted; by default, one day. */
  readonly maxAgeSeconds?: number;
  /** How long cached keys of the issuer are used while it cannot be reached; by default, an hour. */
  readonly keysKeptSeconds?: number;
}

const CLOCK_TOLERANCE_SECONDS = 30;
const MAX_AGE_SECONDS = 86_400;
const KEYS_KEPT_SECONDS = 3_600;
/** How many keys are tried for a token without a key id. */
const KEYS_TRIED_MAX = 10;
// HS256 is never accepted together with these: an attacker could then sign tokens with the text of a public key.
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
/** The reason for text that is not a token. It was already compared with the service keys. */
export const NEITHER = 'it is no service key of this deployment, and no user token';

/** A verifier for HS256 with a shared secret, or for an issuer's JWKS; undefined if neither is configured. */
export function createTokenVerifier(options: TokenOptions): TokenVerifier | undefined {
  const bound = {
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    ...(options.issuer !== undefined && { issuer: options.issuer }),
    ...(options.audience !== undefined && { audience: options.audience }),
  };
  const { secret, jwksUrl, keysKeptSeconds = KEYS_KEPT_SECONDS } = options;
  if (jwksUrl !== undefined) {
    const keys = createIssuerKeys({ url: jwksUrl, keptMs: keysKeptSeconds * 1_000 });
    const tenants = options.tenants.length > 0 ? options.tenants : ['default'];
    return async (token) => {
      const verified = await verified401(() =>
        verifyByAnyKey(token, keys, { ...bound, algorithms: PUBLIC_KEY_ALGORITHMS }),
      );
      return userOf(verified, options, (claim) => tenantAmong(tenants, claim));
    };
  }
  if (secret === undefined) return undefined;
  // jose imports the bytes of a secret again for each token, as it does with those of a KeyObject. That takes half of the time.
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  const imported = crypto.subtle.importKey('raw', Buffer.from(secret), hmac, false, ['verify']);
  return async (token) => {
    const key = await imported;
    const verified = await verified401(() => jwtVerify(token, key, { ...bound, algorithms: ['HS256'] }));
    return userOf(verified, options, (claim) => claim ?? 'default');
  };
}

/** Verifies a token. A token without a key id is tried with each key that could have signed it. */
async function verifyByAnyKey(
  token: string,
  keys: JWTVerifyGetKey,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, keys, options);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    let tried = 0;
    for await (const key of error) {
      tried += 1;
      if (tried > KEYS_TRIED_MAX) break;
      const verified = await jwtVerify(token, key, options).catch((fault: unknown) => {
        if (!(fault instanceof errors.JWSSignatureVerificationFailed)) throw fault;
        return undefined;
      });
      if (verified !== undefined) return verified;
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
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
    throw unauthenticated(reasonOf(error));
  }
}

/** jose's error code, and the claim that it concerns. jose's messages may quote the token, so they are not used. */
function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired)
    return `${error.code}: ${error.claim}`;
  if (error instanceof errors.JWSInvalid) return NEITHER;
  return error instanceof errors.JOSEError ? error.code : 'the token is malformed';
}

function userOf(
  { payload, protectedHeader }: JWTVerifyResult,
  { userClaim, maxAgeSeconds = MAX_AGE_SECONDS }: TokenOptions,
  tenantOf: (claim: string | undefined) => string | undefined,
): VerifiedUser {
  // RFC 7515: the prefix "application/" of a media type may be omitted.
  const type = protectedHeader.typ?.toUpperCase().replace(/^APPLICATION\//, '');
  if (type !== undefined && !TYPES.has(type))
    throw unauthenticated('the header typ names another kind of token');
  if (isUnverified(userClaim, payload)) throw unauthenticated('the issuer has not verified the address');
  const userId = payload[userClaim];
  if (typeof userId !== 'string') throw unauthenticated(`the claim ${userClaim} is not a text`);
  const tenant = tenantOf(tenantClaim(payload));
  if (tenant === undefined || !TENANT_ID.test(tenant))
    throw unauthenticated('the claim tenant names no tenant for which the issuer speaks');
  const expiresAtMs = expiryOf(payload, maxAgeSeconds);
  if (expiresAtMs <= Date.now()) throw unauthenticated('it is older than PARLEY_JWT_MAX_AGE_SECONDS');
  const clientId = clientOf(payload);
  return { tenant, userId, expiresAtMs, ...(clientId !== undefined && { clientId }) };
}

/**
 * True if the claim that names the user is an e-mail address that the issuer has not verified. If people may write any address
 * into their profile, such a claim would let them act as anybody.
 */
export function isUnverified(userClaim: string, claims: Readonly<Record<string, unknown>>): boolean {
  return userClaim === 'email' && claims.email_verified !== true;
}

/** The client: `client_id` as in RFC 9068, or `azp` as OpenID providers write it. */
function clientOf({ client_id: clientId, azp }: JWTPayload): string | undefined {
  return [clientId, azp].find((claim) => typeof claim === 'string' && claim !== '') as string | undefined;
}

function tenantClaim(payload: JWTPayload): string | undefined {
  const claim = payload.tenant;
  if (claim === undefined) return undefined;
  if (typeof claim !== 'string') throw unauthenticated('the claim tenant is not a text');
  return claim;
}

/** The named tenant, if the issuer may speak for it. A missing claim means the issuer's only tenant. */
function tenantAmong(tenants: readonly string[], claim: string | undefined): string | undefined {
  if (claim !== undefined) return tenants.includes(claim) ? claim : undefined;
  return tenants.length === 1 ? tenants[0] : undefined;
}

/**
 * When the token expires. A token with neither `exp` nor `iat` stays valid, and each of its streams may last for the maximum
 * age.
 */
function expiryOf({ exp, iat }: JWTPayload, maxAgeSeconds: number): number {
  if (exp !== undefined) return (exp + CLOCK_TOLERANCE_SECONDS) * 1000;
  const from = typeof iat === 'number' ? iat * 1000 : Date.now();
  return from + maxAgeSeconds * 1000;
}

/** The same error for every invalid token. The reason, which contains nothing of the token, is for the log. */
export function unauthenticated(reason?: string): ParleyError {
  return new ParleyError(
    'unauthenticated',
    'Send a valid bearer token in the Authorization header.',
    reason === undefined ? {} : { cause: new Error(reason) },
  );
}
