import { type JsonWebKey, webcrypto } from 'node:crypto';
import { type Configuration, type DPoPOptions, getDPoPHandle } from 'openid-client';

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256' };
/** The signature algorithm of proofs, by its JWS name. */
export const PROOF_ALGORITHM = 'ES256';

/** A new key to which tokens are bound, as a JWK. */
export async function createProofKey(): Promise<string> {
  const { privateKey } = await webcrypto.subtle.generateKey(ECDSA, true, ['sign', 'verify']);
  return JSON.stringify(await webcrypto.subtle.exportKey('jwk', privateKey));
}

/** The openid-client options that prove a token request (DPoP), and repeat it once with the nonce that the server demands. */
export async function provingWith(server: Configuration, proofKey: string | undefined): Promise<DPoPOptions> {
  if (proofKey === undefined) return {};
  const { kty = '', crv = '', x = '', y = '', d = '' } = JSON.parse(proofKey) as JsonWebKey;
  const { subtle } = webcrypto;
  const shown = { kty, crv, x, y };
  const [privateKey, publicKey] = await Promise.all([
    subtle.importKey('jwk', { ...shown, d }, ECDSA, false, ['sign']),
    subtle.importKey('jwk', shown, ECDSA, true, ['verify']),
  ]);
  return { DPoP: getDPoPHandle(server, { privateKey, publicKey }) };
}
