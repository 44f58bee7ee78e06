import type { RedisLocation } from '../../ports/redis-location.ts';
import { mcpSecretsOf } from '../mcp-env.ts';
import type { RedisPlaces } from '../redis-env.ts';
import { parseServiceKeys } from '../service-keys.ts';
import type { Env } from '../variables.ts';

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/;

/** Settings that are accepted everywhere but deserve a warning, one sentence each. The sentences never repeat a secret. */
export function cautionsOf(env: Env, places: RedisPlaces): string[] {
  const expired = parseServiceKeys(env.PARLEY_API_KEYS).keys.filter(
    ({ expiresAtMs }) => expiresAtMs !== undefined && expiresAtMs <= Date.now(),
  );
  return [
    ...(env.PARLEY_CONFIG !== undefined && Object.keys(places).length > 0 && mcpSecretsOf(env).length === 0
      ? [
          'PARLEY_MCP_SECRET: the pods share no secret, so an MCP call of revision 2026-07-28 fails on a second pod',
        ]
      : []),
    ...(env.PARLEY_CONFIG !== undefined && acceptsAnyAudience(env)
      ? [
          'PARLEY_MCP_AUDIENCE: no audience is set, so every token that PARLEY_JWT_SECRET signs is accepted at /run/v1/mcp',
        ]
      : []),
    ...Object.entries(places).flatMap(([variable, place]) => cautionsOfRedis(variable, place)),
    ...expired.map(
      ({ name, tenant }) => `PARLEY_API_KEYS: the key ${name} of ${tenant} has expired; remove or replace it`,
    ),
  ];
}

function acceptsAnyAudience(env: Env): boolean {
  const audience = env.PARLEY_MCP_AUDIENCE ?? env.PARLEY_JWT_AUDIENCE;
  return env.PARLEY_JWT_SECRET !== undefined && audience === undefined;
}

function cautionsOfRedis(variable: string, place: RedisLocation): string[] {
  const url = place.url === undefined ? undefined : new URL(place.url);
  const hosts = url === undefined ? (place.nodes ?? []).map(({ host }) => host) : [url.hostname];
  if (hosts.every((host) => LOOPBACK.test(host))) return [];
  const isEncrypted = place.tls === true || url?.protocol === 'rediss:';
  const hasPassword = place.password !== undefined || (url !== undefined && url.password !== '');
  return [
    ...(isEncrypted
      ? []
      : [
          `${variable}: Redis is on another machine and is reached without TLS; the network can read all data`,
        ]),
    ...(hasPassword
      ? []
      : [
          `${variable}: Redis is on another machine and asks for no password; everyone who can reach it can read and change all data`,
        ]),
  ];
}
