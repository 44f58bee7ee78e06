import { parseServiceKeys } from '../service-keys.ts';
import type { Env } from '../variables.ts';

/** Placeholders for secrets that are published in example files and web pages. */
const PUBLISHED = /development-only|a-string-secret-at-least-256-bits-long|your-(?:256-bit-)?secret/i;
const PLACEHOLDER = /REPLACE[-_]?ME|CHANGE[-_]?ME/i;
/** A random text of 24 characters has more different characters than this in any alphabet. */
const DIFFERENT_CHARACTERS_MIN = 5;
const REPEATED = /^(.{1,12}?)\1+$/;

/** Why a secret is easy to guess. Undefined when it looks random. */
function weaknessOf(secret: string): string | undefined {
  if (secret.trim() === '') return 'consists of blanks';
  if (PUBLISHED.test(secret)) return 'is a published default, so everybody knows it';
  if (PLACEHOLDER.test(secret)) return 'is still a placeholder';
  if (new Set(secret).size < DIFFERENT_CHARACTERS_MIN) return 'has too few different characters';
  return REPEATED.test(secret) ? 'only repeats a short text' : undefined;
}

/** The reasons why production refuses the configured secrets, one sentence each. They never repeat a secret. */
export function faultsOfSecrets(env: Env): string[] {
  const { PARLEY_JWT_SECRET: jwtSecret } = env;
  const { keys } = parseServiceKeys(env.PARLEY_API_KEYS);
  const secrets: readonly (readonly [name: string, secret: string | undefined])[] = [
    ['PARLEY_JWT_SECRET', jwtSecret],
    ['PARLEY_MCP_SECRET', env.PARLEY_MCP_SECRET],
    ...keys.map(({ secret }) => ['PARLEY_API_KEYS', secret] as const),
    ['PARLEY_REDIS_PASSWORD', env.PARLEY_REDIS_PASSWORD],
    ['PARLEY_REDIS_SENTINELS_PASSWORD', env.PARLEY_REDIS_SENTINELS_PASSWORD],
    ['PARLEY_CONNECT_OIDC_CLIENT_SECRET', env.PARLEY_CONNECT_OIDC_CLIENT_SECRET],
    ['PARLEY_SLACK_CLIENT_SECRET', env.PARLEY_SLACK_CLIENT_SECRET],
    ['PARLEY_SLACK_SIGNING_SECRET', env.PARLEY_SLACK_SIGNING_SECRET],
    ...env.PARLEY_WEBHOOK_SECRETS.map(
      (entry) => ['PARLEY_WEBHOOK_SECRETS', entry.replace(/^[^:]*:(?:whsec_)?/, '')] as const,
    ),
  ];
  const faults = secrets.flatMap(([name, secret]) => {
    const weakness = secret === undefined ? undefined : weaknessOf(secret);
    return weakness === undefined ? [] : [`${name}: ${subjectOf(name)} ${weakness}; use a random one`];
  });
  if (keys.some(({ secret }) => secret === jwtSecret)) {
    faults.push(
      'PARLEY_API_KEYS: a service key is equal to PARLEY_JWT_SECRET; a holder of the key could sign tokens of every user',
    );
  }
  return [...new Set(faults)];
}

function subjectOf(name: string): string {
  return name === 'PARLEY_API_KEYS' ? 'the secret of a key' : 'its value';
}
