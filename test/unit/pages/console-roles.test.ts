import { expect, test } from 'vitest';
import { claimAt, rolesOf, scopesOf } from '../../../services/api/src/pages/console/roles.ts';

const ALL = ['acme', 'globex'];
const everywhere = (...roles: string[]) => ALL.map((tenant) => ({ tenant, roles }));
const acme = (...roles: string[]) => [{ tenant: 'acme', roles }];

test.each([
  ['one role', 'viewer', everywhere('viewer')],
  ['a list of roles', ['reader', 'viewer'], everywhere('viewer', 'reader')],
  ['a role of a tenant', ['acme:operator'], acme('operator')],
  [
    'an object',
    { acme: 'viewer', globex: ['operator', 'x'] },
    [
      { tenant: 'acme', roles: ['viewer'] },
      { tenant: 'globex', roles: ['operator'] },
    ],
  ],
  [
    'both in one list',
    ['viewer', 'acme:operator'],
    [
      { tenant: 'acme', roles: ['viewer', 'operator'] },
      { tenant: 'globex', roles: ['viewer'] },
    ],
  ],
  [
    'roles and tenants that are none',
    ['admin', 'Viewer', 'elsewhere:viewer', ':viewer', 'acme:', 'a:acme:viewer'],
    [],
  ],
  ['an object with tenants that are none', { elsewhere: 'operator', constructor: 'viewer' }, []],
  ['nothing', undefined, []],
  ['null', null, []],
  ['what is no text', [1, true, { acme: 'viewer' }, ['viewer']], []],
  ['an object of objects', { acme: { viewer: true } }, []],
])('%s', (_what, claim, expected) => {
  expect(rolesOf(claim, ALL)).toEqual(expected);
});

test('a claim is found by its name, else by a path, and never in a prototype', () => {
  const claims = { 'https://x.example/roles': 'a', realm: { roles: 'b' }, 'realm.roles': 'c' };
  expect(claimAt(claims, 'https://x.example/roles')).toBe('a');
  expect(claimAt(claims, 'realm.roles')).toBe('c');
  expect(claimAt({ realm: { roles: 'b' } }, 'realm.roles')).toBe('b');
  expect(claimAt({ realm: { roles: 'b' } }, 'realm.constructor.name')).toBeUndefined();
  expect(claimAt({}, 'toString')).toBeUndefined();
});

test('every role reads; only `operator` changes, and only `reader` sees content', () => {
  expect(scopesOf(['viewer'])).toEqual([]);
  expect(scopesOf(['operator'])).toEqual(['operate']);
  expect(scopesOf(['viewer', 'reader'])).toEqual(['read_content']);
});
