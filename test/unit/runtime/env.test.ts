import { EnvError, readEnv } from '@parley/shared/runtime/env';
import { expect, it } from 'vitest';

const KEY = 'a-secret-of-a-service-0123456789';
const PRODUCTION = {
  NODE_ENV: 'production',
  REDIS_URL: 'redis://redis:6379',
  PARLEY_API_KEYS: `acme:${KEY}`,
};

it.each([
  ['nothing at all', {}],
  ['empty variables', { REDIS_URL: '', PARLEY_HEARTBEAT_MS: '' }],
  ['a production pod', PRODUCTION],
  ['two keys of a tenant', { PARLEY_API_KEYS: `acme:${KEY},acme:${KEY}2` }],
])('accepts %s', (_title, source) => {
  expect(() => readEnv('api', source)).not.toThrow();
});

it.each([
  ['an address that is not of Redis', { REDIS_URL: 'http://redis:6379' }, 'REDIS_URL'],
  [
    'Sentinel and Cluster at once',
    { PARLEY_REDIS_SENTINELS: 'a:1', PARLEY_REDIS_CLUSTER: 'b:2' },
    'PARLEY_REDIS_CLUSTER',
  ],
  ['a key without a tenant', { PARLEY_API_KEYS: KEY }, 'PARLEY_API_KEYS'],
  ['a key that no header can carry', { PARLEY_API_KEYS: 'acme:schlüssel-für-alle' }, 'PARLEY_API_KEYS'],
  ['a key with a space in it', { PARLEY_API_KEYS: 'acme:two words here' }, 'PARLEY_API_KEYS'],
  ['a key too long to be read', { PARLEY_API_KEYS: `acme:${'x'.repeat(8_193)}` }, 'PARLEY_API_KEYS'],
  ['a heart that beats too slowly for the clients', { PARLEY_HEARTBEAT_MS: '30000' }, 'PARLEY_HEARTBEAT_MS'],
  ['one secret for two tenants', { PARLEY_API_KEYS: `acme:${KEY},globex:${KEY}` }, 'PARLEY_API_KEYS'],
  ['a drain that is all delay', { PARLEY_DRAIN_DELAY_MS: '10000' }, 'PARLEY_DRAIN_DELAY_MS'],
  ['an origin with a path', { PARLEY_CORS_ORIGINS: 'https://app.example.com/x' }, 'PARLEY_CORS_ORIGINS'],
  ['a JWKS without an issuer', { PARLEY_JWT_JWKS_URL: 'https://id.example.com/jwks' }, 'PARLEY_JWT_ISSUER'],
  ['production without callers', { ...PRODUCTION, PARLEY_API_KEYS: '' }, 'PARLEY_JWT_SECRET'],
  [
    'the words of programs in the log of production',
    { ...PRODUCTION, PARLEY_LOG_MCP_STDERR: 'true' },
    'PARLEY_LOG_MCP_STDERR',
  ],
  ['production without Redis', { ...PRODUCTION, REDIS_URL: '' }, 'REDIS_URL'],
  ['a short key in production', { ...PRODUCTION, PARLEY_API_KEYS: 'acme:0123456789' }, 'PARLEY_API_KEYS'],
])('refuses %s and names the variable, never its value', (_title, source, variable) => {
  const fault = thrownBy(() => readEnv('api', source));
  expect(fault).toBeInstanceOf(EnvError);
  const { faults, message } = fault as EnvError;
  expect(faults.map((text) => text.slice(0, text.indexOf(':')))).toContain(variable);
  for (const value of Object.values(source)) {
    if (value.includes('acme:')) expect(message).not.toContain(value);
  }
});

it('reports all faults at once', () => {
  const fault = thrownBy(() => readEnv('api', { REDIS_URL: 'x', PARLEY_API_KEYS: 'y' })) as EnvError;
  expect(fault.faults).toHaveLength(2);
});

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}
