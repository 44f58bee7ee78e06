import { expect, it } from 'vitest';
import { createTokenVerifier } from '../../../services/api/src/http/token.ts';
import { userToken } from '../../harness/tokens.ts';

const SECRET = 'a-secret-of-at-least-thirty-two-characters';
const nowSeconds = () => Math.floor(Date.now() / 1_000);

const verify = createTokenVerifier({ secret: SECRET, tenants: [], userClaim: 'sub', maxAgeSeconds: 600 });

async function verified(claims: Record<string, unknown>) {
  return verify?.(await userToken({ secret: SECRET, userId: 'alice', claims }));
}

it('a token without exp is accepted up to its maximum age, and its streams end there', async () => {
  const iat = nowSeconds() - 500;
  expect(await verified({ exp: undefined, iat })).toMatchObject({ expiresAtMs: (iat + 600) * 1_000 });
  await expect(verified({ exp: undefined, iat: nowSeconds() - 601 })).rejects.toMatchObject({
    code: 'unauthenticated',
  });
});

it('a token with exp is accepted up to the tolerance after it, whatever its age', async () => {
  const exp = nowSeconds() - 20;
  expect(await verified({ exp, iat: nowSeconds() - 100_000 })).toMatchObject({
    expiresAtMs: (exp + 30) * 1_000,
  });
});

it('a token with neither is accepted, and its streams last for the maximum age', async () => {
  const before = Date.now();
  const { expiresAtMs = 0 } = (await verified({ exp: undefined, iat: undefined })) ?? {};
  expect(expiresAtMs).toBeGreaterThanOrEqual(before + 600_000);
  expect(expiresAtMs).toBeLessThanOrEqual(Date.now() + 600_000);
});
