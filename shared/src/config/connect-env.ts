import { TENANT_ID } from '@parley/core/domain/ids';
import { faultOfUrl } from '@parley/core/domain/url';
import type { Env } from './variables.ts';

const NEEDED = {
  oidc: ['PARLEY_CONNECT_OIDC_ISSUER', 'PARLEY_CONNECT_OIDC_CLIENT_ID'],
  session: ['PARLEY_CONNECT_SESSION_URL'],
  dev: [],
} as const;

/** Faults in the settings of the hosted pages: how they identify people, and what they show. */
export function faultsOfConnect(env: Env): string[] {
  const { PARLEY_CONNECT_IDENTITY: identity, PARLEY_CONNECT_TENANTS: tenants, NODE_ENV } = env;
  const faults: string[] = [];
  for (const name of identity === undefined ? [] : NEEDED[identity]) {
    if (env[name] === undefined) faults.push(`${name}: is required with PARLEY_CONNECT_IDENTITY=${identity}`);
  }
  const rules = { allowLoopbackHttp: NODE_ENV !== 'production' };
  for (const name of [
    'PARLEY_CONNECT_OIDC_ISSUER',
    'PARLEY_CONNECT_SESSION_URL',
    'PARLEY_LOGO_URL',
  ] as const) {
    const fault = env[name] === undefined ? undefined : faultOfUrl(env[name], rules);
    if (fault !== undefined) faults.push(`${name}: ${fault}`);
  }
  if (tenants.some((tenant) => !TENANT_ID.test(tenant)))
    faults.push('PARLEY_CONNECT_TENANTS: tenants are 1 to 128 of A-Z a-z 0-9 . _ -');
  if (identity === 'dev' && tenants.length > 1)
    faults.push('PARLEY_CONNECT_TENANTS: with PARLEY_CONNECT_IDENTITY=dev there can be only one');
  for (const origin of env.PARLEY_CONNECT_TELL_ORIGINS) {
    if (faultOfUrl(origin, rules) !== undefined || new URL(origin).origin !== origin)
      faults.push(
        'PARLEY_CONNECT_TELL_ORIGINS: every entry must be an origin such as https://app.example.com',
      );
  }
  if (identity === 'dev' && NODE_ENV === 'production')
    faults.push(
      'PARLEY_CONNECT_IDENTITY: production needs oidc or session; dev does not verify the typed name',
    );
  return faults;
}
