import type { RedisDiagnosis } from '@parley/server/diagnosis';

const TIMEOUT_MS = 800;
const LOCAL_REDIS = 'redis://127.0.0.1:6379';

interface FoundRedis {
  readonly isVault: boolean;
  /** The setting that names it. */
  readonly key: string;
  readonly diagnosis: RedisDiagnosis;
}

const KEYS = { single: 'REDIS_URL', sentinel: 'PARLEY_REDIS_SENTINELS', cluster: 'PARLEY_REDIS_CLUSTER' };

/** What looks at the Redis, and at that of the vault's own, that an environment names found; or what is wrong with it. */
type RedisFindings = { readonly found: readonly FoundRedis[] } | { readonly faults: readonly string[] };

/** Looks at every Redis that an environment names to the services. */
export async function diagnoseEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Promise<RedisFindings> {
  // Loading a client of Redis takes as long as most commands.
  const { diagnose, readRedisPlaces } = await import('@parley/server/diagnosis');
  const read = readRedisPlaces(env);
  if ('faults' in read) return read;
  const looks = Object.entries(read.places).map(async ([variable, location]) => {
    const isVault = variable === 'PARLEY_VAULT_REDIS_URL';
    return {
      isVault,
      key: isVault ? variable : KEYS[location.kind],
      diagnosis: await diagnose(location, { isVault }),
    };
  });
  return { found: await Promise.all(looks) };
}

/** What a search for a Redis on this machine led to. */
export interface RedisSearch {
  /** The address of one that can be used as it is. */
  readonly url?: string;
  /** Why one that is there is not used, and how it can be. */
  readonly refusal?: string;
}

/** Looks for a Redis at an address, by default on this machine. Finds neither where nothing listens. */
export async function findRedis(url = LOCAL_REDIS, timeoutMs = TIMEOUT_MS): Promise<RedisSearch> {
  const { diagnose } = await import('@parley/server/diagnosis');
  const { fault } = await diagnose({ kind: 'single', url }, { timeoutMs });
  if (fault === undefined) return { url };
  return fault.code === 'refused' ? {} : { refusal: fault.text };
}
