import { createPublicKey, sign } from 'node:crypto';
import { sha256 } from '@parley/shared/records/digest';
import type { CardSigner } from './deps.ts';

export const KEYS_PATH = '/.well-known/a2a-keys.json';

/** The public keys of the signer (RFC 7517), for clients that check cards. */
export function publicKeysOf({ privateKey }: CardSigner) {
  const jwk = createPublicKey(privateKey).export({ format: 'jwk' });
  return { keys: [{ ...jwk, kid: keyIdOf({ privateKey }), alg: 'ES256', use: 'sig' }] };
}

/** The id of the key: its thumbprint (RFC 7638). */
function keyIdOf({ privateKey }: CardSigner): string {
  const { crv, kty, x, y } = createPublicKey(privateKey).export({ format: 'jwk' });
  return sha256(JSON.stringify({ crv, kty, x, y }));
}

/** Signs a card (RFC 7515). The payload is the card's canonical JSON, which the signature does not repeat. */
export function signatureOf({ privateKey }: CardSigner, origin: string, payload: string) {
  const head = { alg: 'ES256', kid: keyIdOf({ privateKey }), typ: 'JOSE', jku: `${origin}${KEYS_PATH}` };
  const signed = Buffer.from(JSON.stringify(head)).toString('base64url');
  const input = Buffer.from(`${signed}.${Buffer.from(payload).toString('base64url')}`);
  const signature = sign('sha256', input, { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return { protected: signed, signature: signature.toString('base64url') };
}
