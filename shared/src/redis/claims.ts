import type { Claims } from '../ports/claims.ts';
import type { Commands } from './connect.ts';
import { claimKey } from './keys.ts';
import { orUnavailable } from './unavailable.ts';

/** Claims as strings, set only if absent. */
export function createRedisClaims(redis: Commands, onError?: (error: unknown) => void): Claims {
  return {
    claim: (name, value, ttlMs) =>
      orUnavailable(async () => {
        const held = await redis.call('SET', claimKey(name), value, 'NX', 'GET', 'PX', ttlMs);
        return held === null ? value : String(held);
      }, onError),
  };
}
