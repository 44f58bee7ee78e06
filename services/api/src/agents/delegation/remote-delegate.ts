/** Works on a delegate's run whose delegator is on another pod. The same on the delegator's own pod is in `delegate.ts`. */

import type { StreamRef } from '@parley/core/domain/ids';
import { retryWhileUnavailable } from '@parley/shared/async/retry-while-unavailable';
import type { WorkClock } from '@parley/shared/async/work-clock';
import type { DelegateRequest, Run, RunRef } from '@parley/shared/domain/runs/run';
import type { Runs } from '@parley/shared/ports/runs/runs';
import { isInterrupted, RunDetachedError, RunInterruptedError } from '@parley/shared/runs/interruption';
import { withdrawOfRun } from '@parley/shared/runs/open-questions';
import type { OwnedRun } from '@parley/shared/runs/owned-run';
import type { RunWriter } from '@parley/shared/runs/write';
import type { Agents } from '../loop/agents.ts';
import { startPolling } from '../loop/poll-status.ts';
import { readCheckpoint } from '../loop/read-checkpoint.ts';
import { failTurn } from '../loop/run-end.ts';
import { createBudget } from '../run/budget.ts';
import { createIdleDetection, type IdleDeps, type IdleDetection, idleAfterMs } from '../run/idle.ts';
import type { TurnObserver } from '../run/observer.ts';
import { createReach, type ReachDeps, withNotices } from '../run/reach.ts';
import type { Delegate, Delegator, RunContext } from '../run/run-context.ts';
import { runDelegate } from './run-delegate.ts';

interface RemoteDelegateDeps extends IdleDeps, ReachDeps {
  readonly engine: RunContext['engine'];
  readonly runs: Pick<Runs, 'read' | 'standing'>;
  readonly agents: Pick<Agents, 'find' | 'open'>;
  readonly delegateTo: Delegate;
  readonly observer: TurnObserver;
  readonly onFault: (error: unknown, run: StreamRef) => void;
}

/** Works on a claimed run of a delegate whose delegator is on another pod. Resolves as `workOnBegun`. Never rejects. */
export async function workOnRemoteDelegate(
  deps: RemoteDelegateDeps,
  owned: OwnedRun,
  run: Run,
  stopping: AbortController,
): Promise<boolean> {
  const { agents, runs, engine } = deps;
  const stopped = stopping.signal;
  const onFault = (error: unknown) => deps.onFault(error, run);
  const { writer } = owned;
  const signal = AbortSignal.any([stopped, writer.stopped]);
  const clock = createRemoteClock(writer);
  const idle = createIdleDetection(idleAfterMs(deps, run.delivery), () =>
    stopping.abort(new RunDetachedError()),
  );
  const stopPolling = startPolling(writer, clock);
  const isReleased = () => isInterrupted(stopped) || writer.fenced.aborted;
  try {
    // The previous owner's waits have ended.
    await writer.append({ type: 'run-resumed', waits: 0 });
    await writer.append({ type: 'turn-attached' });
    if (!(await isParentRunning(deps, run))) throw new RunInterruptedError();
    const { id, title } = agents.find(run.agent);
    const person = { ...run, reach: createReach(deps, run.support, requestOf(run).notify) };
    const agent = await agents.open(id, person, AbortSignal.any([signal, writer.fenced]));
    const from = await readCheckpoint({ runs, onFault }, run);
    const delegator = createDelegator(deps, run, { writer, clock, idle, signal, onFault });
    const { shownId } = requestOf(run);
    await runDelegate(delegator, owned, { ...agent, id, title, input: run.input, from, shownId });
  } catch (error) {
    // A stopped delegate has written its end. If its pod stops, the run is released and continues on another pod.
    if (writer.outcome === undefined && !isReleased()) {
      await retryWhileUnavailable(() => withdrawOfRun(engine, run)).catch(onFault);
      await failTurn({ writer, stopped, onFault }, [], error);
    }
  } finally {
    stopPolling();
    idle.stop();
  }
  return writer.outcome !== undefined || isReleased();
}

/** Returns false if the delegating run has ended without the delegate. */
async function isParentRunning({ runs }: Pick<RemoteDelegateDeps, 'runs'>, run: Run): Promise<boolean> {
  const { parent, tenant, userId } = run;
  if (parent === undefined) return false;
  const standing = await retryWhileUnavailable(() => runs.standing({ ...parent, tenant, userId }));
  return standing?.status === 'running';
}

interface RemoteRun {
  readonly writer: RunWriter;
  readonly clock: WorkClock;
  readonly idle: IdleDetection;
  readonly signal: AbortSignal;
  readonly onFault: (error: unknown) => void;
}

/** Represents a delegator on another pod. Its events go to the delegate's own feed, which the delegator follows. */
function createDelegator(
  deps: RemoteDelegateDeps,
  run: Run,
  { writer, clock, idle, signal, onFault }: RemoteRun,
): Delegator {
  const { observer, delegateTo } = deps;
  const request = requestOf(run);
  const { notify } = request;
  const turn: RunRef = { ...request.turn, tenant: run.tenant, userId: run.userId };
  return {
    engine: withNotices(deps.engine, notify),
    turn: {
      run: turn,
      support: run.support,
      reach: createReach(deps, run.support, notify),
      notify,
      delivery: run.delivery,
      idle,
      append: (event) => writer.append(event),
      poll: () => writer.poll(),
      openQuestions: 0,
    },
    clock,
    budget: createBudget(request.tokens),
    observer,
    depth: request.depth,
    delegateTo,
    signal,
    onFault,
  };
}

function requestOf({ delegateRequest, streamRequestId }: Run): DelegateRequest {
  if (delegateRequest === undefined) throw new Error(`The run ${streamRequestId} is not a delegate's.`);
  return delegateRequest;
}

/** The delegator's clock runs on its own pod. Events in the delegate's feed tell it when to pause. */
function createRemoteClock(writer: RunWriter): WorkClock {
  let waits = 0;
  return {
    get isWaiting() {
      return waits > 0;
    },
    async waiting(wait) {
      waits += 1;
      try {
        await writer.append({ type: 'run-paused', waits });
        return await wait();
      } finally {
        waits -= 1;
        // After the run's end no event is needed, because the end also ends the pause.
        await writer.append({ type: 'run-resumed', waits }).catch(() => undefined);
      }
    },
    workedMs: 0,
    over: new AbortController().signal,
    stop: () => undefined,
  };
}
