import { decodeJwt } from 'jose';
import { expect, it } from 'vitest';
import { createProofKey } from '../../../../services/api/src/accounts/oauth/proof-key.ts';
import { createProofs } from '../../../../services/api/src/agents/mcp/transports/proofs.ts';

const URL_OF_SERVER = new URL('https://desk.example/mcp?x=1');
const REQUEST = { method: 'POST', headers: { authorization: 'DPoP token' } };
const refusal = (nonce: string, error = 'use_dpop_nonce') => ({
  statusCode: 401,
  headers: { 'www-authenticate': `DPoP error="${error}"`, 'dpop-nonce': nonce },
});

it('a demanded nonce is wanted by each request that lacks it, once, and is in the next proof', async () => {
  const proofs = createProofs(await createProofKey());
  const [first, second] = [
    await proofs.proven(URL_OF_SERVER, REQUEST),
    await proofs.proven(URL_OF_SERVER, REQUEST),
  ];
  expect(proofs.wantsNonce(refusal('n1'), first)).toBe(true);
  expect(proofs.wantsNonce(refusal('n1'), second)).toBe(true);
  const third = await proofs.proven(URL_OF_SERVER, REQUEST);
  const claims = decodeJwt(new Headers(third.init.headers).get('dpop') ?? '');
  expect(claims).toMatchObject({ nonce: 'n1', htm: 'POST', htu: 'https://desk.example/mcp' });
  expect(proofs.wantsNonce(refusal('n1'), third)).toBe(false);
  expect(proofs.wantsNonce(refusal('n2', 'invalid_token'), third)).toBe(false);
  expect((await proofs.proven(URL_OF_SERVER, REQUEST)).nonce).toBe('n2');
});

it('a request without such a token has no proof', async () => {
  const proofs = createProofs(await createProofKey());
  const bearer = { headers: { authorization: 'Bearer token' } };
  expect(await proofs.proven(URL_OF_SERVER, bearer)).toEqual({ init: bearer });
});
