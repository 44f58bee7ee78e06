import type { Claims } from '../ports/claims.ts';
import type { Commands } from './connect.ts';
import { claimKey } from './keys.ts';
import { loadScript } from './script.ts';

/** Claims as strings that lapse. */
export function createRedisClaims(redis: Commands, onError?: (error: unknown) => void): Claims {
  const claimScript = loadScript(redis, 'claim', onError);
  return {
    claim: async (name, value, ttlMs) => String(await claimScript([claimKey(name)], [value, ttlMs])),
  };
}
