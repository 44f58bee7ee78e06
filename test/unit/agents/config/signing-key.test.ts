import { generateKeyPairSync } from 'node:crypto';
import { expect, it } from 'vitest';
import { readSigningKey } from '../../../../services/api/src/agents/config/signing-key.ts';

const ec = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey;
const pem = (key: typeof ec) => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const rsa = (modulusLength: number) => pem(generateKeyPairSync('rsa', { modulusLength }).privateKey);
const jwk = JSON.stringify({ ...ec.export({ format: 'jwk' }), kid: 'its own' });

it.each([
  ['PEM', pem(ec), {}, { algorithm: 'ES384' }],
  ['PEM in one line', pem(ec).replaceAll('\n', '\\n'), { keyId: 'k' }, { algorithm: 'ES384', keyId: 'k' }],
  ['a JWK', jwk, {}, { keyId: 'its own' }],
  ['a JWK under another id', jwk, { keyId: 'k' }, { keyId: 'k' }],
  ['an RSA key', rsa(2048), {}, { algorithm: 'RS256' }],
  ['an RSA key for PS512', rsa(2048), { algorithm: 'PS512' }, { algorithm: 'PS512' }],
  ['an algorithm of another key', pem(ec), { algorithm: 'ES256' }, { at: 'algorithm' }],
  ['a short RSA key', rsa(1024), {}, { at: 'privateKeyEnv' }],
  [
    'a curve that no algorithm names',
    pem(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey),
    {},
    { at: 'privateKeyEnv' },
  ],
])('reads %s', (_name, text, entry, expected) => {
  expect(readSigningKey(entry, text)).toMatchObject(expected);
});
