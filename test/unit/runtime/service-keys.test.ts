import { parseServiceKeys } from '@parley/shared/config/service-keys';
import { describe, expect, it } from 'vitest';

const SECRET = 'a-secret:with/every+sign;of=old-keys';

describe('an entry of PARLEY_API_KEYS', () => {
  it.each([
    ['acme', { tenant: 'acme', scopes: ['ask', 'read', 'chat'] }],
    ['acme/billing', { tenant: 'acme', name: 'billing', scopes: ['ask', 'read', 'chat'] }],
    ['acme/billing/read', { tenant: 'acme', name: 'billing', scopes: ['read'] }],
    [
      'acme/billing/ask+admin/2027-01-31',
      { tenant: 'acme', name: 'billing', scopes: ['ask', 'admin'], expiresAtMs: Date.UTC(2027, 0, 31) },
    ],
  ])('%s and a secret', (head, key) => {
    expect(parseServiceKeys([`${head}:${SECRET}`])).toEqual({
      keys: [{ ...key, secret: SECRET }],
      faults: [],
    });
  });

  it.each([
    ['acme/', 'name'],
    ['acme/a b c d', 'name'],
    // As short as the id of a key without a name.
    ['acme/abc', 'name'],
    ['acme/billing/', 'scopes'],
    ['acme/billing/everything', 'scopes'],
    ['acme/billing/ask,read', 'scopes'],
    ['acme/billing/ask/', 'expiry'],
    ['acme/billing/ask/2027-02-31', 'expiry'],
    ['acme/billing/ask/tomorrow', 'expiry'],
    ['acme/billing/ask/2027-01-31/more', 'tenant/name/scopes/expiry:secret'],
    ['/billing', 'tenant/name/scopes/expiry:secret'],
  ])('%s is refused with a reason, and without its secret', (head, reason) => {
    const { keys, faults } = parseServiceKeys([`${head}:${SECRET}`]);
    expect(keys).toEqual([]);
    expect(faults).toEqual([expect.stringContaining(reason)]);
    expect(faults.join()).not.toContain(SECRET);
  });
});

it('two secrets under one name are one caller, so that a secret can be replaced', () => {
  const { keys } = parseServiceKeys(['acme/billing:first-secret', 'acme/billing:second-secret']);
  expect(keys.map(({ name }) => name)).toEqual(['billing', 'billing']);
});
