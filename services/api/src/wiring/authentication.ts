import type { Env } from '@parley/shared/config/env';
import { parseServiceKeys } from '@parley/shared/config/service-keys';
import type { Log } from '@parley/shared/observe/log';
import { type Authenticate, createAuthenticate } from '../http/auth.ts';
import { createTokenVerifier } from '../http/token.ts';
import { createLineLimit } from './line-limit.ts';

/** Verifies tokens for the deployment's audience, or for `audience`. Logs why callers are refused. */
export function createAuthentication(
  env: Env,
  log: Pick<Log, 'info'>,
  audience = env.PARLEY_JWT_AUDIENCE,
): Authenticate {
  const limit = createLineLimit();
  const onRefused = (reason: string) => {
    const suppressed = limit();
    if (suppressed === undefined) return;
    log.info({ reason, ...(suppressed > 0 && { suppressed }) }, 'a token was refused');
  };
  return createAuthenticate({
    serviceKeys: parseServiceKeys(env.PARLEY_API_KEYS).keys,
    onRefused,
    verify: createTokenVerifier({
      tenants: env.PARLEY_JWT_TENANTS,
      userClaim: env.PARLEY_JWT_USER_CLAIM,
      maxAgeSeconds: env.PARLEY_JWT_MAX_AGE_SECONDS,
      keysKeptSeconds: env.PARLEY_JWT_KEYS_KEPT_SECONDS,
      ...(env.PARLEY_JWT_SECRET !== undefined && { secret: env.PARLEY_JWT_SECRET }),
      ...(env.PARLEY_JWT_JWKS_URL !== undefined && { jwksUrl: env.PARLEY_JWT_JWKS_URL }),
      ...(env.PARLEY_JWT_ISSUER !== undefined && { issuer: env.PARLEY_JWT_ISSUER }),
      ...(audience !== undefined && { audience }),
    }),
  });
}
