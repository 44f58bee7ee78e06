import { type KeyObject, webcrypto } from 'node:crypto';
import { type ClientAuth, PrivateKeyJwt } from 'openid-client';

/** The private key of a client. It must never be logged. */
export interface AssertionKey {
  readonly key: KeyObject;
  /** An algorithm that fits the key, by its JWS name. */
  readonly algorithm: string;
  /** Tells the server which of the client's keys signed. */
  readonly keyId?: string;
}

/** The Web Crypto parameters of each JWS algorithm family. */
const FAMILIES = {
  ES: (bits: string) => ({ name: 'ECDSA', namedCurve: `P-${bits === '512' ? '521' : bits}` }),
  RS: (bits: string) => ({ name: 'RSASSA-PKCS1-v1_5', hash: `SHA-${bits}` }),
  PS: (bits: string) => ({ name: 'RSA-PSS', hash: `SHA-${bits}` }),
  Ed: () => ({ name: 'Ed25519' }),
} as const;

/**
 * `private_key_jwt` (RFC 7523): signs an assertion for each request. Its audience is the issuer, it expires after a minute, and
 * its id is unique.
 */
export function signingWith({ key, algorithm, keyId }: AssertionKey): ClientAuth {
  const family = FAMILIES[algorithm.slice(0, 2) as keyof typeof FAMILIES];
  const pkcs8 = key.export({ type: 'pkcs8', format: 'der' });
  const imported = webcrypto.subtle
    .importKey('pkcs8', pkcs8, family(algorithm.slice(2)), false, ['sign'])
    .then((signing) => PrivateKeyJwt(keyId === undefined ? signing : { key: signing, kid: keyId }));
  // A key that cannot be imported makes the first request reject, so this rejection is ignored.
  imported.catch(() => undefined);
  return async (...request) => (await imported)(...request);
}
