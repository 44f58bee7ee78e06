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
  /** How long keys that were read are used while the issuer cannot be reached, in ms. */
  readonly keptMs: number;
  /** In ms since 1970. */
  readonly now?: () => number;
}

const TIMEOUT_MS = 3_000;
/** An issuer that did not answer is left alone for so long: each call would wait for it. */
const PAUSE_MS = 30_000;
/** Keys are taken for current for so long, as jose has it. */
const CURRENT_MS = 600_000;

/** The keys of an issuer, read when they are needed and every ten minutes. Rejects as jose does. */
export function createIssuerKeys({ url, keptMs, now = Date.now }: IssuerKeysOptions): JWTVerifyGetKey {
  const read: JWKSCacheInput = {};
  const remote = createRemoteJWKSet(new URL(url), { timeoutDuration: TIMEOUT_MS, [jwksCache]: read });
  let kept: { readonly uat: number; readonly keys: JWTVerifyGetKey } | undefined;
  let failure: { readonly at: number; readonly error: unknown } | undefined;

  /** True for `PAUSE_MS` after a failure, where earlier keys are known. */
  function isUnavailable(): boolean {
    const { uat } = read;
    if (failure === undefined || uat === undefined || uat > failure.at) return false;
    return now() - failure.at < PAUSE_MS;
  }

  /** A key among those that were read last, unless that is too long ago. A key that is not among them may be new. */
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

/** True when the issuer's keys could not be fetched: that says nothing about the token. */
export function isKeyOutage(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return true;
  if (error instanceof errors.JOSEError) return error.code === 'ERR_JOSE_GENERIC';
  return error instanceof TypeError && error.message === 'fetch failed';
}
