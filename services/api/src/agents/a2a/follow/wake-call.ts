import type { Owner, StreamRef } from '@parley/core/domain/ids';
import type { PushedCall } from '@parley/shared/domain/a2a/pushed-call';
import { DETACHED } from '@parley/shared/domain/runs/run';
import type { EventBus } from '@parley/shared/ports/elicitations/event-bus';
import type { Limits } from '@parley/shared/ports/limits';
import { type ResumeRunDeps, resumeRun } from '@parley/shared/runs/resume';

export interface WakeCallDeps extends ResumeRunDeps {
  readonly pushedCalls: EventBus<PushedCall>;
  readonly limits: Pick<Limits, 'take'>;
}

/** A call in a run, with the run's owner. */
export interface OwnedCall extends Owner {
  /** As `ToolCall.callKey`: the run's stream request, a space, and the id of the call in the run. */
  readonly callKey: string;
}

/** The limit on resuming a detached run for one call. Each resumption writes to the run and its feed. */
const RESUMPTIONS = { points: 1, windowSeconds: 30 };

/** The run of a call. */
export function runOfCall({ tenant, userId, callKey }: OwnedCall): StreamRef {
  const [streamRequestId = ''] = callKey.split(' ');
  return { tenant, userId, streamRequestId };
}

/**
 * Wakes the pod that owns the run of a call. A detached run is resumed, at most once in 30 s for each call; further pushes
 * resume it at the end of that time. Returns false if the run has ended.
 *
 * The hint is published before the run's owner is read. A pod that detaches the run at that moment therefore either receives
 * the hint, or has detached the run before its owner is read. Throws `unavailable`.
 */
export function createCallWaker(deps: WakeCallDeps): (call: OwnedCall) => Promise<boolean> {
  const { runs, limits, pushedCalls } = deps;
  const delayed = new Set<string>();

  /** Returns whether the run is still running, and how long to wait before it may be resumed. */
  async function resume(call: OwnedCall): Promise<{ isRunning: boolean; waitSeconds?: number }> {
    const stream = runOfCall(call);
    const standing = await runs.standing(stream);
    if (standing?.status !== 'running') return { isRunning: false };
    if (standing.owner !== DETACHED) return { isRunning: true };
    const verdict = await limits.take(`a2a-resumed:${call.callKey}`, call, RESUMPTIONS);
    if (!verdict.allowed) return { isRunning: true, waitSeconds: verdict.retryAfterSeconds };
    await resumeRun(deps, stream, standing.term);
    return { isRunning: true };
  }

  function resumeLater(call: OwnedCall, waitSeconds: number): void {
    const key = JSON.stringify([call.tenant, call.userId, call.callKey]);
    if (delayed.has(key)) return;
    delayed.add(key);
    const timer = setTimeout(() => {
      delayed.delete(key);
      // If the limit refuses this resumption too, another pod has already resumed the run.
      resume(call).catch(() => undefined);
    }, waitSeconds * 1000);
    timer.unref();
  }

  return async (call) => {
    await pushedCalls.publish(runOfCall(call), { callKey: call.callKey });
    const { isRunning, waitSeconds } = await resume(call);
    if (waitSeconds !== undefined) resumeLater(call, waitSeconds);
    return isRunning;
  };
}
