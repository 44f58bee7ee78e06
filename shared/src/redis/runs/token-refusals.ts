import type { BeginResult, NewRun } from '../../ports/runs/runs.ts';
import { limitKey } from '../client/keys.ts';
import { createRefusals } from '../limits/refusals.ts';

/**
 * Wraps `begin` so that it refuses locally while the person's daily tokens are known to be used up; a large message then need
 * not be sent to Redis. A run under an idempotency key may already exist, and runs of delegates or without a person have no
 * quota, so these are never refused here.
 */
export function withTokenRefusals(
  begin: (run: NewRun) => Promise<BeginResult>,
): (run: NewRun) => Promise<BeginResult> {
  const refusals = createRefusals();
  return async (run) => {
    const key = limitKey('tokens', run);
    const isRefusable =
      run.request === undefined && run.parent === undefined && run.support.unattended !== true;
    const sentAt = performance.now();
    const until = isRefusable ? refusals.find(key) : undefined;
    if (until !== undefined)
      return { type: 'over-quota', of: 'user', quota: 'tokens', retryInMs: until - sentAt };
    const result = await begin(run);
    if (result.type === 'over-quota' && result.quota === 'tokens')
      refusals.add(key, sentAt, result.retryInMs);
    return result;
  };
}
