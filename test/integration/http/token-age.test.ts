import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createTokenVerifier } from '../../../services/api/src/http/token.ts';
import { userToken } from '../../harness/tokens.ts';

const SECRET = 'a-secret-of-at-least-thirty-two-characters';
const NOW = 1_790_000_000;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW * 1_000 });
});
afterEach(() => vi.useRealTimers());

const verify = createTokenVerifier({ secret: SECRET, tenants: [], userClaim: 'sub', maxAgeSeconds: 600 });

async function verified(claims: Record<string, unknown>) {
  return verify?.(await userToken({ secret: SECRET, userId: 'alice', claims }));
}

const REFUSED = { code: 'unauthenticated' };

it('a token without exp is accepted up to its maximum age, and its streams end there', async () => {
  const iat = NOW - 599;
  expect(await verified({ exp: undefined, iat })).toMatchObject({ expiresAtMs: (iat + 600) * 1_000 });
  await expect(verified({ exp: undefined, iat: NOW - 601 })).rejects.toMatchObject(REFUSED);
});

it('a token with exp is accepted up to the tolerance after it, whatever its age', async () => {
  const [iat, exp] = [NOW - 100_000, NOW - 29];
  expect(await verified({ exp, iat })).toMatchObject({ expiresAtMs: (exp + 30) * 1_000 });
  await expect(verified({ exp: NOW - 31, iat })).rejects.toMatchObject(REFUSED);
});

it('a token with neither is accepted, and its streams last for the maximum age', async () => {
  expect(await verified({ exp: undefined, iat: undefined })).toMatchObject({
    expiresAtMs: (NOW + 600) * 1_000,
  });
});

it.each([
  [{ client_id: 'host', azp: 'other' }, 'host'],
  [{ azp: 'host' }, 'host'],
  [{ client_id: '', azp: 7 }, undefined],
  [{}, undefined],
])('a token names its OAuth client: %j', async (claims, clientId) => {
  expect((await verified({ exp: NOW + 60, iat: NOW, ...claims }))?.clientId).toBe(clientId);
});
