import type { BeginResult, NewRun } from '../../ports/runs/runs.ts';
import { limitKey } from '../client/keys.ts';
import { createRefusals } from '../limits/refusals.ts';

/**
 * The same `begin`, which refuses by itself while it knows that the person's tokens of the day are used up: a large message
 * need not reach Redis for that. A run under a key may exist already, and runs of delegates and of nobody are not refused.
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
