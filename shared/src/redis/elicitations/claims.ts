import type { Claims } from '../../ports/elicitations/claims.ts';
import type { Commands } from '../client/connect.ts';
import { claimKey } from '../client/keys.ts';
import { loadScript } from '../client/script.ts';
import { orUnavailable } from '../client/unavailable.ts';

/** Claims as strings that expire. */
export function createRedisClaims(redis: Commands, onError?: (error: unknown) => void): Claims {
  const claimScript = loadScript(redis, 'client/claim', onError);
  const releaseScript = loadScript(redis, 'client/release', onError);
  return {
    claim: async (name, value, ttlMs) => String(await claimScript([claimKey(name)], [value, ttlMs])),
    read: async (name) => (await orUnavailable(() => redis.get(claimKey(name)), onError)) ?? undefined,
    async drop(name, value) {
      await releaseScript([claimKey(name)], [value]);
    },
  };
}
