import type { StreamRef } from '@parley/shared/domain/ids';
import type { Commission, Run, RunRef } from '@parley/shared/domain/run';
import { createBudget } from './budget.ts';
import type { Delegate, Delegator, Working } from './call-tool.ts';
import { createDelegate, type DelegateDeps } from './delegate.ts';
import { type Delegated, runDelegate } from './delegate-run.ts';
import { lookRegularly } from './look.ts';
import type { TurnObserver } from './observer.ts';
import { breakTurn } from './run-end.ts';
import { createRunWriter, type RunWriter } from './run-writer.ts';
import type { Support } from './tool.ts';
import type { WorkClock } from './work-clock.ts';

export interface CommissionDeps extends DelegateDeps {
  readonly engine: Working['engine'] & DelegateDeps['engine'];
  readonly observer: TurnObserver;
  readonly onFault: (error: unknown, run: StreamRef) => void;
}

/** A delegate's run that this pod has taken over. */
export interface Taken {
  readonly run: Run & { readonly commission: Commission };
  readonly term: number;
}

/** Takes a delegate's run over for this pod; nothing when nobody needs to do it any more. Throws `unavailable`. */
export async function takeCommission(
  { runs, owner }: Pick<CommissionDeps, 'runs' | 'owner'>,
  stream: StreamRef,
): Promise<Taken | undefined> {
  const { run } = await runs.read(stream);
  if (run?.status !== 'running' || run.commission === undefined) return undefined;
  // Once it was taken, whoever finds its job again must leave it alone.
  if (run.term > 1 && run.owner !== owner) return undefined;
  const term = run.term > 1 ? run.term : await runs.takeOver(stream, run.term, owner);
  return term === undefined ? undefined : { run: { ...run, commission: run.commission }, term };
}

/** Does the work of a run that was taken over, for whoever delegated on another pod. Never rejects. */
export async function workOnCommission(
  deps: CommissionDeps,
  { run, term }: Taken,
  stopped: AbortSignal,
): Promise<boolean> {
  const { agents, runs } = deps;
  const onFault = (error: unknown) => deps.onFault(error, run);
  const writer = createRunWriter({ runs, run, term, writerSeq: run.writerSeq });
  const signal = AbortSignal.any([stopped, writer.stopped]);
  const clock = tellingClock(writer);
  const stopLooking = lookRegularly(writer, clock);
  try {
    const { id, title } = agents.find(run.agent);
    const agent = await agents.open(id, run, AbortSignal.any([signal, writer.lost]));
    const given: Delegated = { ...agent, id, title, run, writer, input: run.input, isRetold: false };
    await runDelegate(deps, delegatorOf(deps, { run, term }, { writer, clock, signal, onFault }), given);
  } catch (error) {
    // Whoever was stopped has written its end already.
    if (writer.outcome === undefined) await breakTurn({ writer, stopped, onFault }, [], error);
  } finally {
    stopLooking();
  }
  return writer.outcome !== undefined;
}

interface Here {
  readonly writer: RunWriter;
  readonly clock: WorkClock;
  readonly signal: AbortSignal;
  readonly onFault: (error: unknown) => void;
}

/** Stands for whoever delegated: what is theirs to do here is told in the run's feed, which they read. */
function delegatorOf(
  deps: CommissionDeps,
  { run }: Taken,
  { writer, clock, signal, onFault }: Here,
): Delegator {
  const { commission } = run;
  const turn: RunRef = { ...commission.turn, tenant: run.tenant, userId: run.userId };
  const { form, url, nobody } = commission.support;
  return {
    engine: deps.engine,
    turn: {
      run: turn,
      support: { form, url, ...(nobody && { nobody }) } satisfies Support,
      tell: (event) => writer.tell(event),
      told: () => writer.keep([]),
      look: () => writer.look(),
      callIds: new Set(),
      asking: 0,
    },
    clock,
    budget: createBudget(commission.tokens),
    observer: deps.observer,
    depth: commission.depth,
    delegate: createDelegate(deps) satisfies Delegate,
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
      await writer.tell({ type: 'run-paused' });
      try {
        return await wait();
      } finally {
        waits -= 1;
        // A run that is over tells nothing more; its end says as much.
        await writer.tell({ type: 'run-resumed' }).catch(() => undefined);
      }
    },
    over: new AbortController().signal,
    stop: () => undefined,
  };
}
