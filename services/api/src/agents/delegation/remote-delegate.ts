import type { StreamRef } from '@parley/shared/domain/ids';
import type { DelegateRequest, Run, RunRef } from '@parley/shared/domain/runs/run';
import { retryWhileUnavailable } from '@parley/shared/elicitations/retry-while-unavailable';
import { isInterrupted, RunDetachedError, RunInterruptedError } from '@parley/shared/runs/interruption';
import { createRunWriter, type RunWriter } from '@parley/shared/runs/write';
import { createBudget } from '../loop/budget.ts';
import { createIdleDetection, type IdleDeps, type IdleDetection, idleAfterMs } from '../loop/idle.ts';
import type { TurnObserver } from '../loop/observer.ts';
import { resumePoint } from '../loop/resume-point.ts';
import type { Delegate, Delegator, RunContext } from '../loop/run-context.ts';
import { breakTurn } from '../loop/run-end.ts';
import type { WorkClock } from '../loop/work-clock.ts';
import { withdrawAsked } from '../ownership/open-questions.ts';
import { startPolling } from '../ownership/poll-status.ts';
import { createDelegate, type DelegateDeps } from './delegate.ts';
import { type Delegated, runDelegate } from './run-delegate.ts';

export interface RemoteDelegateDeps extends DelegateDeps, IdleDeps {
  readonly engine: RunContext['engine'] & DelegateDeps['engine'];
  readonly observer: TurnObserver;
  readonly onFault: (error: unknown, run: StreamRef) => void;
}

/** A delegate's run that this pod has taken over. */
export interface TakenDelegate {
  readonly run: Run & { readonly delegateRequest: DelegateRequest };
  readonly term: number;
}

/** Does the work of a run that was taken over, for whoever delegated on another pod. Never rejects. */
export async function workOnRemoteDelegate(
  deps: RemoteDelegateDeps,
  { run, term }: TakenDelegate,
  stopping: AbortController,
): Promise<boolean> {
  const { agents, runs } = deps;
  const stopped = stopping.signal;
  const onFault = (error: unknown) => deps.onFault(error, run);
  const writer = createRunWriter({ runs, run, term, writerSeq: run.writerSeq });
  const signal = AbortSignal.any([stopped, writer.stopped]);
  const clock = tellingClock(writer);
  const idle = createIdleDetection(idleAfterMs(deps, run.delivery), () =>
    stopping.abort(new RunDetachedError()),
  );
  const stopPolling = startPolling(writer, clock);
  const isLeft = () => isInterrupted(stopped) || writer.fenced.aborted;
  try {
    // Whoever held the run before had their own waits, which are over.
    await writer.append({ type: 'run-resumed', waits: 0 });
    await writer.append({ type: 'turn-attached' });
    if (!(await isWanted(deps, run))) throw new RunInterruptedError();
    const { id, title } = agents.find(run.agent);
    const agent = await agents.open(id, run, AbortSignal.any([signal, writer.fenced]));
    const from = await resumePoint({ runs, onFault }, run);
    const given: Delegated = { ...agent, id, title, run, writer, input: run.input, from };
    await runDelegate(deps, delegatorOf(deps, run, { writer, clock, idle, signal, onFault }), given);
  } catch (error) {
    // Whoever was stopped has written its end already; whoever goes away leaves that to the next.
    if (writer.outcome === undefined && !isLeft()) {
      await retryWhileUnavailable(() => withdrawAsked(deps.engine, run)).catch(onFault);
      await breakTurn({ writer, stopped, onFault }, [], error);
    }
  } finally {
    stopPolling();
    idle.stop();
  }
  return writer.outcome !== undefined || isLeft();
}

/** False when whoever delegated has ended without it. */
async function isWanted({ runs }: Pick<RemoteDelegateDeps, 'runs'>, run: Run): Promise<boolean> {
  const { parent, tenant, userId } = run;
  if (parent === undefined) return false;
  const standing = await retryWhileUnavailable(() => runs.standing({ ...parent, tenant, userId }));
  return standing?.status === 'running';
}

interface Here {
  readonly writer: RunWriter;
  readonly clock: WorkClock;
  readonly idle: IdleDetection;
  readonly signal: AbortSignal;
  readonly onFault: (error: unknown) => void;
}

/** Stands for whoever delegated: what is theirs to do here is told in the run's feed, which they read. */
function delegatorOf(
  deps: RemoteDelegateDeps,
  run: TakenDelegate['run'],
  { writer, clock, idle, signal, onFault }: Here,
): Delegator {
  const { delegateRequest } = run;
  const turn: RunRef = { ...delegateRequest.turn, tenant: run.tenant, userId: run.userId };
  return {
    engine: deps.engine,
    turn: {
      run: turn,
      support: run.support,
      delivery: run.delivery,
      idle,
      append: (event) => writer.append(event),
      flush: () => writer.save([]),
      poll: () => writer.poll(),
      openQuestions: 0,
    },
    clock,
    budget: createBudget(delegateRequest.tokens),
    observer: deps.observer,
    depth: delegateRequest.depth,
    delegateTo: createDelegate(deps) satisfies Delegate,
    signal,
    onFault,
  };
}

/** The clock of whoever delegated: it runs on their pod, and hears when it is to stand still. */
function tellingClock(writer: RunWriter): WorkClock {
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
        // A run that is over tells nothing more; its end says as much.
        await writer.append({ type: 'run-resumed', waits }).catch(() => undefined);
      }
    },
    workedMs: 0,
    over: new AbortController().signal,
    stop: () => undefined,
  };
}
