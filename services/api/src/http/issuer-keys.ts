import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  type JWKSCacheInput,
  type JWTVerifyGetKey,
  jwksCache,
} from 'jose';

interface IssuerKeysOptions {
  readonly url: string;
  /** How long cached keys are used while the issuer cannot be reached, in ms. */
  readonly keptMs: number;
  /** Returns the time in ms since 1970. */
  readonly now?: () => number;
}

const TIMEOUT_MS = 3_000;
/** After a failure, the issuer is not called for this long. Otherwise each call would wait for it. */
const PAUSE_MS = 30_000;
/** How long cached keys count as current, which is jose's own default. */
const CURRENT_MS = 600_000;

/** The keys of an issuer. They are read when needed and at most every ten minutes. Rejects as jose does. */
export function createIssuerKeys({ url, keptMs, now = Date.now }: IssuerKeysOptions): JWTVerifyGetKey {
  const read: JWKSCacheInput = {};
  const remote = createRemoteJWKSet(new URL(url), { timeoutDuration: TIMEOUT_MS, [jwksCache]: read });
  let kept: { readonly uat: number; readonly keys: JWTVerifyGetKey } | undefined;
  let failure: { readonly at: number; readonly error: unknown } | undefined;

  /** True for `PAUSE_MS` after a failure, if earlier keys are cached. */
  function isUnavailable(): boolean {
    const { uat } = read;
    if (failure === undefined || uat === undefined || uat > failure.at) return false;
    return now() - failure.at < PAUSE_MS;
  }

  /** Uses the cached keys, unless they are too old. A key that is not among them may be new. */
  async function keptKey(...[header, token]: Parameters<JWTVerifyGetKey>) {
    const { uat, jwks } = read;
    if (jwks === undefined || uat === undefined || now() - uat >= Math.max(keptMs, CURRENT_MS))
      throw failure?.error;
    if (kept?.uat !== uat) kept = { uat, keys: createLocalJWKSet(jwks) };
    try {
      return await kept.keys(header, token);
    } catch (error) {
      throw error instanceof errors.JWKSNoMatchingKey ? failure?.error : error;
    }
  }

  return async (header, token) => {
    if (isUnavailable()) return keptKey(header, token);
    try {
      return await remote(header, token);
    } catch (error) {
      if (!isKeyOutage(error)) throw error;
      failure = { at: now(), error };
      return keptKey(header, token);
    }
  };
}

/** True if the issuer's keys could not be fetched. This says nothing about the token. */
export function isKeyOutage(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return true;
  if (error instanceof errors.JOSEError) return error.code === 'ERR_JOSE_GENERIC';
  return error instanceof TypeError && error.message === 'fetch failed';
}
