import type { Message, RunRef } from '@parley/shared/domain/runs/run';
import type { Engine } from '@parley/shared/elicitations/engine';
import { retryWhileUnavailable } from '@parley/shared/elicitations/retry-while-unavailable';
import { belongsToAnotherPod } from '@parley/shared/runs/interruption';
import type { RunWriter } from '@parley/shared/runs/write';
import { createBudget } from '../loop/budget.ts';
import { BEGINNING, type Checkpoint, inheritedPausesOf } from '../loop/checkpoint.ts';
import { type Delegator, type RunContext, waitsOf } from '../loop/run-context.ts';
import { breakTurn, finishTurn, TurnTooLongError, wordsFor } from '../loop/run-end.ts';
import { type RunAgent, runSteps } from '../loop/run-steps.ts';
import { startWorkClock } from '../loop/work-clock.ts';
import { type LetGoDeps, letGo } from '../ownership/hand-over.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import { delegateFailed, delegateOutcome, textOf } from './outcome.ts';

/** An agent with the task that it was given, and the run that was begun for it. */
export interface Delegated extends RunAgent {
  readonly id: string;
  readonly title: string;
  readonly run: RunRef;
  readonly writer: RunWriter;
  readonly input: readonly Message[];
  /**
   * The call that delegated, as the turn's stream knows it: what this one does is told there too. Absent where whoever
   * delegated reads it off the run's own feed.
   */
  readonly callId?: string;
  /** Where it goes on, when another pod had begun it. */
  readonly from?: Checkpoint;
}

export interface DelegateRunDeps extends LetGoDeps {
  readonly engine: Pick<Engine, 'withdraw'>;
}

/** Does a delegate's work to its end. Rejects with the reason of whoever delegated when they end first. */
export async function runDelegate(
  deps: DelegateRunDeps,
  by: Delegator,
  given: Delegated,
): Promise<ToolOutcome> {
  const { run, writer, id, title, input, from = BEGINNING } = given;
  const clock = startWorkClock(given.limits.workMs, from.workedMs, by.clock);
  const budget = createBudget(given.limits.tokens, by.budget);
  budget.spend(from.used);
  const ending = new AbortController();
  const context: RunContext = {
    ...by,
    run,
    writer,
    clock,
    budget,
    callIds: new Set(from.callIds),
    open: new Set(),
    delegated: new Set(),
    inheritedPauses: inheritedPausesOf(from),
    id,
    title,
    ...(given.callId !== undefined && { delegate: { agent: id, callId: given.callId } }),
    depth: by.depth + 1,
    signal: AbortSignal.any([by.signal, writer.fenced, clock.over, ending.signal]),
  };
  const said: Message[] = [];
  try {
    const reason = await runSteps(context, given, { heard: input, said }, (why) => ending.abort(why), from);
    await finishTurn({ writer }, [], reason, budget.used);
    return delegateOutcome(title, reason, textOf(said.at(-1)));
  } catch (error) {
    ending.abort(error);
    if (belongsToAnotherPod(by.signal)) {
      const { reason } = by.signal;
      await letGo(deps, run, writer, { reason, waits: waitsOf(context) }).catch(async (fault: unknown) => {
        by.onFault(fault);
        if (!writer.fenced.aborted)
          await breakTurn({ writer, stopped: by.signal, onFault: by.onFault }, [], fault);
      });
      throw reason;
    }
    // Another pod does it now: what it asks is that pod's.
    if (writer.fenced.aborted) throw error;
    const cause = clock.over.aborted ? new TurnTooLongError() : error;
    // Whoever delegated ends too then, and has the words for it.
    const onFault = by.signal.aborted ? () => undefined : by.onFault;
    if (!by.signal.aborted) await withdrawOpen(deps, context);
    await breakTurn({ writer, stopped: by.signal, onFault }, [], cause, budget.used);
    by.signal.throwIfAborted();
    return delegateFailed(title, wordsFor(cause).code);
  } finally {
    clock.stop();
  }
}

/** Takes back what a delegate asked that gave up while the turn goes on. */
async function withdrawOpen(
  { engine }: Pick<DelegateRunDeps, 'engine'>,
  { run, open, onFault }: RunContext,
): Promise<void> {
  const caller = { kind: 'service', tenant: run.tenant } as const;
  await Promise.all(
    [...open].map((id) =>
      retryWhileUnavailable(() => engine.withdraw({ caller, id, reason: 'run_stopped' })).catch(onFault),
    ),
  );
}
