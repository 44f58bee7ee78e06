import type { RedisDiagnosis } from '@parley/shared/ports/redis-diagnosis';

const TIMEOUT_MS = 800;
const LOCAL_REDIS = 'redis://127.0.0.1:6379';

/** Looks at a Redis by its address; why it cannot be used is part of what it finds. */
export async function diagnoseAddress(url: string, timeoutMs?: number): Promise<RedisDiagnosis> {
  // Loading a client of Redis takes as long as most commands.
  const { diagnose } = await import('@parley/shared/redis/diagnosis/diagnose');
  return diagnose({ kind: 'single', url }, timeoutMs);
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
  const { fault } = await diagnoseAddress(url, timeoutMs);
  if (fault === undefined) return { url };
  return fault.code === 'refused' ? {} : { refusal: fault.text };
}
