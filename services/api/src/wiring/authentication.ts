import type { Env } from '@parley/shared/runtime/env';
import { parseServiceKeys } from '@parley/shared/runtime/service-keys';
import { type Authenticate, createAuthenticate } from '../http/auth.ts';
import { createTokenVerifier } from '../http/token.ts';

/** Verifies tokens of the deployment's audience; `audience` names another one. */
export function createAuthentication(env: Env, audience = env.PARLEY_JWT_AUDIENCE): Authenticate {
  return createAuthenticate({
    serviceKeys: parseServiceKeys(env.PARLEY_API_KEYS).keys,
    verify: createTokenVerifier({
      tenants: env.PARLEY_JWT_TENANTS,
      userClaim: env.PARLEY_JWT_USER_CLAIM,
      maxAgeSeconds: env.PARLEY_JWT_MAX_AGE_SECONDS,
      ...(env.PARLEY_JWT_SECRET !== undefined && { secret: env.PARLEY_JWT_SECRET }),
      ...(env.PARLEY_JWT_JWKS_URL !== undefined && { jwksUrl: env.PARLEY_JWT_JWKS_URL }),
      ...(env.PARLEY_JWT_ISSUER !== undefined && { issuer: env.PARLEY_JWT_ISSUER }),
      ...(audience !== undefined && { audience }),
    }),
  });
}
