import type { Caller } from '@parley/shared/domain/caller';
import { expect, it } from 'vitest';
import { AgentAccess, admits } from '../../../../services/api/src/agents/config/access.ts';

const CALLERS: Readonly<Record<string, Caller>> = {
  ada: { kind: 'user', tenant: 'acme', userId: 'ada' },
  bob: { kind: 'user', tenant: 'acme', userId: 'bob' },
  'ada of globex': { kind: 'user', tenant: 'globex', userId: 'ada' },
  billing: { kind: 'service', tenant: 'acme', keyId: 'billing' },
  'a key without a name': { kind: 'service', tenant: 'acme', keyId: 'x7_' },
};
const ACME = ['ada', 'bob', 'billing', 'a key without a name'];

it.each([
  [{}, Object.keys(CALLERS)],
  [{ callers: [] }, []],
  [{ callers: ['user'] }, ['ada', 'bob', 'ada of globex']],
  [{ tenants: ['acme'] }, ACME],
  // Who names users means no service key, and the other way round.
  [{ users: ['ada'] }, ['ada', 'ada of globex']],
  [{ users: ['ada'], tenants: ['acme'] }, ['ada']],
  [{ keys: ['billing'] }, ['billing']],
  [{ users: ['ada'], keys: ['billing'] }, ['ada', 'ada of globex', 'billing']],
  [
    { callers: ['user', 'service'], users: ['ada'], tenants: ['acme'] },
    ['ada', 'billing', 'a key without a name'],
  ],
  [{ callers: ['service'], users: ['ada'] }, ['billing', 'a key without a name']],
])('access %j admits %j', (access, names) => {
  const parsed = AgentAccess.parse(access);
  const admitted = Object.entries(CALLERS).filter(([, caller]) => admits(parsed, caller));
  expect(admitted.map(([name]) => name)).toEqual(names);
});
