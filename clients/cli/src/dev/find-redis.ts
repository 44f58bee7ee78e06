import type { RedisDiagnosis } from '@parley/server/diagnosis';

const TIMEOUT_MS = 800;
const LOCAL_REDIS = 'redis://127.0.0.1:6379';

interface FoundRedis {
  readonly isVault: boolean;
  /** The setting that names this Redis. */
  readonly key: string;
  readonly diagnosis: RedisDiagnosis;
}

const KEYS = { single: 'REDIS_URL', sentinel: 'PARLEY_REDIS_SENTINELS', cluster: 'PARLEY_REDIS_CLUSTER' };

/** The diagnoses of every Redis that an environment names, including the vault's own; or the faults of the settings. */
type RedisFindings = { readonly found: readonly FoundRedis[] } | { readonly faults: readonly string[] };

/** Diagnoses every Redis that an environment names for the services. */
export async function diagnoseEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Promise<RedisFindings> {
  // The module is loaded here, because loading a Redis client takes as long as most commands.
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

/** The result of a search for a Redis. */
export interface RedisSearch {
  /** The address of a usable Redis. */
  readonly url?: string;
  /** Why an existing Redis is not used, and how it can be. */
  readonly refusal?: string;
}

/** Searches for a Redis at an address, by default on this machine. If nothing listens there, the result is empty. */
export async function findRedis(url = LOCAL_REDIS, timeoutMs = TIMEOUT_MS): Promise<RedisSearch> {
  const { diagnose } = await import('@parley/server/diagnosis');
  const { fault } = await diagnose({ kind: 'single', url }, { timeoutMs });
  if (fault === undefined) return { url };
  return fault.code === 'refused' ? {} : { refusal: fault.text };
}
