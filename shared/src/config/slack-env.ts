import { faultOfUrl } from '@parley/core/domain/url';
import type { Env } from './variables.ts';

const NEEDED = [
  'PARLEY_SLACK_CLIENT_SECRET',
  'PARLEY_SLACK_SIGNING_SECRET',
  'PARLEY_PUBLIC_URL',
  'PARLEY_CONFIG',
  'PARLEY_CONNECT_IDENTITY',
] as const;

/** The faults in the settings of the Slack app. */
export function faultsOfSlack(env: Env): string[] {
  const { PARLEY_SLACK_CLIENT_ID: clientId, PARLEY_SLACK_URL: url, NODE_ENV } = env;
  if (clientId === undefined) return [];
  const faults = NEEDED.filter((name) => env[name] === undefined).map(
    (name) => `${name}: is required with PARLEY_SLACK_CLIENT_ID`,
  );
  if (env.PARLEY_CONNECT_IDENTITY === 'session')
    faults.push(
      'PARLEY_CONNECT_IDENTITY: must be oidc with Slack, because people are linked after a sign-in',
    );
  const fault =
    url === undefined ? undefined : faultOfUrl(url, { allowLoopbackHttp: NODE_ENV !== 'production' });
  if (fault !== undefined) faults.push(`PARLEY_SLACK_URL: ${fault}`);
  return faults;
}
