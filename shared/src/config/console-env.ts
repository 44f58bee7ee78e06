import { LOOPBACK_HOSTS } from '@parley/core/domain/url';
import type { Env } from './variables.ts';

const NEEDED = {
  oidc: [
    'PARLEY_PUBLIC_URL',
    'PARLEY_CONNECT_OIDC_ISSUER',
    'PARLEY_CONNECT_OIDC_CLIENT_ID',
    'PARLEY_CONSOLE_ROLES_CLAIM',
  ],
  dev: ['PARLEY_PUBLIC_URL'],
} as const;

/** Faults in the settings of the console. */
export function faultsOfConsole(env: Env): string[] {
  const { PARLEY_CONSOLE: console, PARLEY_PUBLIC_URL: url, NODE_ENV } = env;
  if (console === undefined) return [];
  const faults = NEEDED[console].flatMap((name) =>
    env[name] === undefined ? [`${name}: is required with PARLEY_CONSOLE=${console}`] : [],
  );
  if (console === 'dev' && NODE_ENV === 'production')
    faults.push('PARLEY_CONSOLE: production needs oidc; dev does not verify the typed name');
  // NODE_ENV may have been forgotten, but a public address shows that this is not a developer's own machine.
  else if (console === 'dev' && url !== undefined && !isLocal(url))
    faults.push('PARLEY_CONSOLE: dev needs a PARLEY_PUBLIC_URL on localhost; it gives everybody every role');
  if (env.PARLEY_CONSOLE_IDLE_SECONDS > env.PARLEY_CONSOLE_SESSION_SECONDS)
    faults.push('PARLEY_CONSOLE_IDLE_SECONDS: must be at most PARLEY_CONSOLE_SESSION_SECONDS');
  return faults;
}

function isLocal(url: string): boolean {
  return URL.canParse(url) && LOOPBACK_HOSTS.has(new URL(url).hostname);
}
