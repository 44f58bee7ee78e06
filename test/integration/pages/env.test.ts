import { EnvError, readEnv } from '@parley/shared/config/env';
import { describe, expect, test } from 'vitest';

function faultsOf(env: Record<string, string>): readonly string[] {
  try {
    readEnv('worker', env);
    return [];
  } catch (error) {
    if (error instanceof EnvError) return error.faults;
    throw error;
  }
}

const PRODUCTION = { NODE_ENV: 'production', REDIS_URL: 'rediss://redis.example:6379' };
const OIDC = {
  PARLEY_CONNECT_IDENTITY: 'oidc',
  PARLEY_CONNECT_OIDC_ISSUER: 'https://login.example.com',
  PARLEY_CONNECT_OIDC_CLIENT_ID: 'parley',
};

const CONSOLE = {
  PARLEY_CONSOLE: 'oidc',
  PARLEY_PUBLIC_URL: 'https://parley.example.com',
  PARLEY_CONSOLE_ROLES_CLAIM: 'roles',
  PARLEY_CONNECT_OIDC_ISSUER: 'https://login.example.com',
  PARLEY_CONNECT_OIDC_CLIENT_ID: 'parley',
};
const DEV = { PARLEY_CONNECT_IDENTITY: 'dev' };
const session = (url: string) => ({ PARLEY_CONNECT_IDENTITY: 'session', PARLEY_CONNECT_SESSION_URL: url });

describe('the identity setting of the connect pages', () => {
  test.each([
    ['an OpenID provider', OIDC],
    ['an OpenID provider of several tenants', { ...OIDC, PARLEY_CONNECT_TENANTS: 'acme, other' }],
    ['a backend', session('https://app.example.com/x?y=z')],
    ['nothing', {}],
    ['that of the console alone', CONSOLE],
    [
      'a typed name for the console, in development only',
      { PARLEY_CONSOLE: 'dev', PARLEY_PUBLIC_URL: 'http://localhost:3000', NODE_ENV: 'development' },
    ],
    ['a typed name, in development only', { ...DEV, NODE_ENV: 'development' }],
  ])('may be %s', (_what, env) => {
    expect(faultsOf({ ...PRODUCTION, ...env })).toEqual([]);
  });

  test.each([
    ['PARLEY_CONNECT_IDENTITY', { PARLEY_CONNECT_IDENTITY: 'trust' }],
    ['PARLEY_CONNECT_IDENTITY', DEV],
    ['PARLEY_CONNECT_OIDC_ISSUER', { ...OIDC, PARLEY_CONNECT_OIDC_ISSUER: '' }],
    ['PARLEY_CONNECT_OIDC_CLIENT_ID', { ...OIDC, PARLEY_CONNECT_OIDC_CLIENT_ID: '' }],
    ['PARLEY_CONNECT_OIDC_ISSUER', { ...OIDC, PARLEY_CONNECT_OIDC_ISSUER: 'http://login.example.com' }],
    ['PARLEY_CONNECT_SESSION_URL', { PARLEY_CONNECT_IDENTITY: 'session' }],
    ['PARLEY_CONNECT_SESSION_URL', session('http://127.0.0.1/')],
    ['PARLEY_CONNECT_TENANTS', { ...OIDC, PARLEY_CONNECT_TENANTS: 'a/b' }],
    // One tenant only where people type their name.
    ['PARLEY_CONNECT_TENANTS', { ...DEV, NODE_ENV: 'development', PARLEY_CONNECT_TENANTS: 'a,b' }],
    ['PARLEY_CONNECT_TELL_ORIGINS', { ...OIDC, PARLEY_CONNECT_TELL_ORIGINS: 'https://app.example.com/path' }],
    ['PARLEY_CONNECT_TELL_ORIGINS', { ...OIDC, PARLEY_CONNECT_TELL_ORIGINS: '*' }],
    ['PARLEY_LOGO_URL', { PARLEY_LOGO_URL: 'http://img.example/logo.svg' }],
    ['PARLEY_TITLE', { PARLEY_TITLE: 'a\u0000b' }],
    ['PARLEY_CONSOLE', { PARLEY_CONSOLE: 'true' }],
    ['PARLEY_CONSOLE', { ...CONSOLE, PARLEY_CONSOLE: 'dev' }],
    ['PARLEY_CONSOLE', { ...CONSOLE, PARLEY_CONSOLE: 'dev', NODE_ENV: 'development' }],
    ['PARLEY_PUBLIC_URL', { ...CONSOLE, PARLEY_PUBLIC_URL: '' }],
    ['PARLEY_CONSOLE_ROLES_CLAIM', { ...CONSOLE, PARLEY_CONSOLE_ROLES_CLAIM: '' }],
    ['PARLEY_CONNECT_OIDC_ISSUER', { ...CONSOLE, PARLEY_CONNECT_OIDC_ISSUER: '' }],
    ['PARLEY_CONSOLE_IDLE_SECONDS', { ...CONSOLE, PARLEY_CONSOLE_IDLE_SECONDS: '30000' }],
    ['PARLEY_APPROVAL_LINKS', { PARLEY_APPROVAL_LINKS: 'no' }],
    ['PARLEY_CONNECT_PROXY_HOPS', { ...OIDC, PARLEY_CONNECT_PROXY_HOPS: 'true' }],
  ])('is refused with %s', (name, env) => {
    expect(faultsOf({ ...PRODUCTION, ...env })).toEqual([expect.stringMatching(new RegExp(`^${name}: `))]);
  });
});
