/** Runs a delegate to its end, wherever its delegator is. Which pod does it is decided in `delegate.ts`. */

import { retryWhileUnavailable } from '@parley/shared/async/retry-while-unavailable';
import { startWorkClock } from '@parley/shared/async/work-clock';
import type { Message } from '@parley/shared/domain/runs/run';
import { belongsToAnotherPod } from '@parley/shared/runs/interruption';
import { NOT_NEEDED, withdraw } from '@parley/shared/runs/open-questions';
import type { OwnedRun } from '@parley/shared/runs/owned-run';
import { BEGINNING, type Checkpoint, callsAt } from '../loop/checkpoint.ts';
import { failTurn, failureOf, finishTurn, TurnTooLongError } from '../loop/run-end.ts';
import { type RunAgent, runSteps } from '../loop/run-steps.ts';
import { createBudget, type Usage } from '../run/budget.ts';
import { type Delegator, type RunContext, waitsOf } from '../run/run-context.ts';
import type { ToolOutcome } from '../run/tool.ts';
import { delegateFailed, delegateOutcome, textOf } from './outcome.ts';

/** An agent and its task. */
interface DelegateWork extends RunAgent {
  readonly id: string;
  readonly title: string;
  readonly input: readonly Message[];
  /**
   * Id of the delegating call on the turn's stream, where the delegate's calls appear too. Absent if the delegator follows the
   * delegate's own feed.
   */
  readonly callId?: string;
  /** Id of the delegating call on the turn's stream, even if the turn is on another pod. */
  readonly shownId?: string | undefined;
  /** Where the run continues after a take-over. */
  readonly from?: Checkpoint;
}

/** Runs a delegate to its end. Rejects with the delegator's abort reason when the delegator ends first. */
export async function runDelegate(by: Delegator, owned: OwnedRun, work: DelegateWork): Promise<ToolOutcome> {
  const { run, writer } = owned;
  const { id, title, input, from = BEGINNING } = work;
  const clock = startWorkClock(work.limits.workMs, from.workedMs, by.clock);
  const budget = createBudget(work.limits.tokens, by.budget);
  budget.spend(from.used);
  const ending = new AbortController();
  const context: RunContext = {
    ...by,
    run,
    writer,
    clock,
    budget,
    ...callsAt(from),
    id,
    title,
    sample: work.sample,
    ...(work.shownId !== undefined && { shownId: work.shownId }),
    ...(work.callId !== undefined && { delegate: { agent: id, callId: work.callId } }),
    depth: by.depth + 1,
    signal: AbortSignal.any([by.signal, writer.fenced, clock.over, ending.signal]),
    released: owned.released,
  };
  const produced: Message[] = [];
  try {
    const reason = await runSteps(
      context,
      work,
      { given: input, produced, cut: '' },
      { abandon: (why) => ending.abort(why), from },
    );
    await finishTurn({ writer }, [], reason, budget.used);
    return delegateOutcome(title, reason, textOf(produced.at(-1)));
  } catch (error) {
    ending.abort(error);
    if (belongsToAnotherPod(by.signal)) {
      const { reason } = by.signal;
      await owned.release(reason, waitsOf(context)).catch(async (fault: unknown) => {
        by.onFault(fault);
        if (!writer.fenced.aborted)
          await failTurn({ writer, stopped: by.signal, onFault: by.onFault }, [], fault);
      });
      throw reason;
    }
    // Another pod owns the run and its questions.
    if (writer.fenced.aborted) throw error;
    const cause = clock.over.aborted ? new TurnTooLongError() : error;
    if (!by.signal.aborted) await withdrawOpen(context);
    return await failDelegate(by, owned, { title, cause, usage: budget.used });
  } finally {
    clock.stop();
  }
}

/**
 * Ends the run of a delegate that cannot continue. Resolves with the outcome for the delegator; rejects with the delegator's
 * abort reason if the delegator has ended.
 */
export async function failDelegate(
  by: Delegator,
  { writer }: OwnedRun,
  {
    title,
    cause,
    usage,
  }: { readonly title: string; readonly cause: unknown; readonly usage?: Usage | undefined },
): Promise<ToolOutcome> {
  // If the delegator ends too, it reports the cause itself.
  const onFault = by.signal.aborted ? () => undefined : by.onFault;
  await failTurn({ writer, stopped: by.signal, onFault }, [], cause, usage);
  by.signal.throwIfAborted();
  return delegateFailed(title, failureOf(cause).code);
}

/** Withdraws the open questions of a delegate that failed while its turn continues. */
async function withdrawOpen({ engine, run, open, onFault }: RunContext): Promise<void> {
  const work = (id: string) => withdraw(engine, run.tenant, id, { reason: NOT_NEEDED });
  await Promise.all([...open].map((id) => retryWhileUnavailable(() => work(id)).catch(onFault)));
}
