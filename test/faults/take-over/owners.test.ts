import { afterAll, beforeAll } from 'vitest';
import { isFullSize } from '../../harness/proof-size.ts';
import { openRunSite, type RunHooks, type RunSite } from '../../harness/run-points/site.ts';
import { INTERRUPTION_HOOKS, interruptedOwners } from './interrupted.ts';
import { killedAtPoints, POINT_HOOKS } from './points.ts';
import { endedAtRandom } from './take-over.ts';

// A pod that ends is replaced at once.
const PODS = isFullSize ? 4 : 2;

/** Each test has conversations of its own, so that at most one of the two acts at a point. */
const hooks: RunHooks = {
  ...POINT_HOOKS,
  onCommand(...at) {
    const verdict = INTERRUPTION_HOOKS.onCommand?.(...at) ?? 'pass';
    return verdict === 'pass' ? (POINT_HOOKS.onCommand?.(...at) ?? 'pass') : verdict;
  },
  async onCall(call) {
    await INTERRUPTION_HOOKS.onCall?.(call);
    await POINT_HOOKS.onCall?.(call);
  },
  onSaying: (saying) => INTERRUPTION_HOOKS.onSaying?.(saying) ?? POINT_HOOKS.onSaying?.(saying),
};

let site: RunSite;
beforeAll(async () => {
  site = await openRunSite({ pods: PODS, hooks });
});
afterAll(() => site?.stop());

interruptedOwners(() => site);
killedAtPoints(() => site);
endedAtRandom(() => site);
