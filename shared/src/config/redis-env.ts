import type { RedisLocation } from '../ports/redis-location.ts';
import { withSecretFiles } from './secret-files.ts';
import { type Env, Variables } from './variables.ts';

const RedisVariables = Variables.pick({
  REDIS_URL: true,
  PARLEY_REDIS_SENTINELS: true,
  PARLEY_REDIS_SENTINEL_NAME: true,
  PARLEY_REDIS_SENTINELS_USERNAME: true,
  PARLEY_REDIS_SENTINELS_PASSWORD: true,
  PARLEY_REDIS_CLUSTER: true,
  PARLEY_REDIS_USERNAME: true,
  PARLEY_REDIS_PASSWORD: true,
  PARLEY_REDIS_TLS: true,
  PARLEY_VAULT_REDIS_URL: true,
});

type RedisEnv = Pick<Env, keyof typeof RedisVariables.shape>;

/** All configured Redis installations, by the variable that gives the location. */
export type RedisPlaces = Readonly<Record<string, RedisLocation>>;

/** The Redis of the service, and the separate Redis of the vault, if they are configured. */
export function redisPlaces(env: RedisEnv): RedisPlaces {
  const main = redisLocation(env);
  const vault = ownVaultLocation(env);
  return {
    ...(main !== undefined && { [redisVariable(env)]: main }),
    ...(vault !== undefined && { PARLEY_VAULT_REDIS_URL: vault }),
  };
}

function redisVariable(env: RedisEnv): string {
  if (env.PARLEY_REDIS_CLUSTER.length > 0) return 'PARLEY_REDIS_CLUSTER';
  return env.PARLEY_REDIS_SENTINELS.length > 0 ? 'PARLEY_REDIS_SENTINELS' : 'REDIS_URL';
}

/** The location of Redis. Undefined when none is configured. */
export function redisLocation(env: RedisEnv): RedisLocation | undefined {
  const auth = {
    ...(env.PARLEY_REDIS_USERNAME !== undefined && { username: env.PARLEY_REDIS_USERNAME }),
    ...(env.PARLEY_REDIS_PASSWORD !== undefined && { password: env.PARLEY_REDIS_PASSWORD }),
    ...(env.PARLEY_REDIS_TLS && { tls: true }),
  };
  if (env.PARLEY_REDIS_CLUSTER.length > 0)
    return { kind: 'cluster', nodes: env.PARLEY_REDIS_CLUSTER, ...auth };
  if (env.PARLEY_REDIS_SENTINELS.length > 0) {
    return {
      kind: 'sentinel',
      nodes: env.PARLEY_REDIS_SENTINELS,
      name: env.PARLEY_REDIS_SENTINEL_NAME,
      ...(env.PARLEY_REDIS_SENTINELS_USERNAME !== undefined && {
        sentinelUsername: env.PARLEY_REDIS_SENTINELS_USERNAME,
      }),
      ...(env.PARLEY_REDIS_SENTINELS_PASSWORD !== undefined && {
        sentinelPassword: env.PARLEY_REDIS_SENTINELS_PASSWORD,
      }),
      ...auth,
    };
  }
  return env.REDIS_URL === undefined ? undefined : { kind: 'single', url: env.REDIS_URL, ...auth };
}

/** The separate Redis of the vault. Undefined when credentials are stored in the same Redis as everything else. */
export function ownVaultLocation({ PARLEY_VAULT_REDIS_URL: url }: RedisEnv): RedisLocation | undefined {
  return url === undefined ? undefined : { kind: 'single', url };
}

/** The Redis that stores credentials: the vault's own, or else the common one. */
export function vaultLocation(env: RedisEnv): RedisLocation | undefined {
  return ownVaultLocation(env) ?? redisLocation(env);
}

/** The faults in the settings of Redis, one sentence each. */
export function faultsOfRedis(env: RedisEnv): string[] {
  const faults = (['REDIS_URL', 'PARLEY_VAULT_REDIS_URL'] as const)
    .filter((name) => {
      const url = env[name];
      return url !== undefined && !(/^rediss?:\/\//.test(url) && URL.canParse(url));
    })
    .map((name) => `${name}: must be a URL that begins with redis:// or rediss://`);
  if (env.PARLEY_REDIS_SENTINELS.length > 0 && env.PARLEY_REDIS_CLUSTER.length > 0) {
    faults.push('PARLEY_REDIS_CLUSTER: set either it or PARLEY_REDIS_SENTINELS, not both');
  }
  return faults;
}

/** Reads only the settings of Redis, by the same rules as the services: an empty variable counts as unset. */
export function readRedisPlaces(
  source: Readonly<Record<string, string | undefined>>,
): { readonly places: RedisPlaces } | { readonly faults: readonly string[] } {
  const read = withSecretFiles(source);
  const given = Object.entries(read.source).filter(([, value]) => value !== undefined && value !== '');
  const parsed = RedisVariables.safeParse(Object.fromEntries(given));
  if (!parsed.success)
    return { faults: parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) };
  const faults = [...read.faults, ...faultsOfRedis(parsed.data)];
  return faults.length > 0 ? { faults } : { places: redisPlaces(parsed.data) };
}
