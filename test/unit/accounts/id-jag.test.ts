import { expect, test } from 'vitest';
import { faultOfIdJag } from '../../../services/api/src/accounts/oauth/id-jag.ts';

const ISSUER = 'https://company.example';
const TARGET = {
  audience: 'https://auth.example',
  resource: 'https://mcp.example/mcp',
  clientId: 'parley',
  scopes: [],
};
const GOOD = { iss: ISSUER, aud: TARGET.audience, client_id: 'parley', resource: TARGET.resource, exp: 60 };

const jwt = (claims: unknown, header: unknown = { typ: 'oauth-id-jag+jwt' }) =>
  [header, claims, 'signature']
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');

test.each<[name: string, assertion: string, fault: string | undefined]>([
  ['meant for it', jwt(GOOD), undefined],
  [
    'with its audience and resource in lists',
    jwt({ ...GOOD, aud: [GOOD.aud], resource: [GOOD.resource] }),
    undefined,
  ],
  ['without a resource', jwt({ ...GOOD, resource: undefined }), undefined],
  ['of another type', jwt(GOOD, { typ: 'JWT' }), 'of another type'],
  ['without a type', jwt(GOOD, {}), 'malformed'],
  ['of another issuer', jwt({ ...GOOD, iss: 'https://evil.example' }), 'names another issuer'],
  ['for another audience', jwt({ ...GOOD, aud: 'https://other.example' }), 'for another audience'],
  [
    'for several audiences',
    jwt({ ...GOOD, aud: [GOOD.aud, 'https://other.example'] }),
    'for another audience',
  ],
  ['for another client', jwt({ ...GOOD, client_id: 'other' }), 'for another client'],
  ['for another server', jwt({ ...GOOD, resource: 'https://mcp.example/other' }), 'for another resource'],
  ['that has expired', jwt({ ...GOOD, exp: 1 }), 'expired'],
  ['whose claims are no object', jwt([]), 'malformed'],
  ['that is no JWT', 'opaque', 'malformed'],
  ['that is no JSON', 'a.b.c', 'malformed'],
])('an assertion %s may be sent to an authorization server, or not', (_name, assertion, fault) => {
  const found = faultOfIdJag(assertion, ISSUER, TARGET, 2_000);
  if (fault === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(fault);
});
