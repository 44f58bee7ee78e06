import type { Delivery, Message, RunRef, Support } from '@parley/shared/domain/runs/run';
import type { Engine } from '@parley/shared/elicitations/engine';
import { isInterrupted } from '@parley/shared/runs/interruption';
import { RunFencedError, type RunWriter } from '@parley/shared/runs/write';
import type { Waits } from '../ownership/hand-over.ts';
import { startPolling } from '../ownership/poll-status.ts';
import { createBudget } from './budget.ts';
import { BEGINNING, type Checkpoint, inheritedPausesOf } from './checkpoint.ts';
import type { IdleDetection } from './idle.ts';
import type { TurnObserver } from './observer.ts';
import { type Delegate, type RunContext, waitsOf } from './run-context.ts';
import { breakTurn, finishTurn, TurnTooLongError } from './run-end.ts';
import { type RunAgent, runSteps } from './run-steps.ts';
import { startWorkClock } from './work-clock.ts';

export interface RunOptions extends RunAgent {
  readonly engine: Pick<Engine, 'ask' | 'wait' | 'withdraw'>;
  readonly writer: RunWriter;
  readonly run: RunRef;
  /** The agent, as the configuration and as people know it. */
  readonly id: string;
  readonly title: string;
  readonly observer: TurnObserver;
  readonly support: Support;
  /** What was said before this turn, and what this turn answers. */
  readonly history: readonly Message[];
  readonly input: readonly Message[];
  /** Aborted when the person stops the turn, or, with RunInterruptedError, the pod. */
  readonly stopped: AbortSignal;
  readonly delegateTo: Delegate;
  /** Where the run goes on, when another pod had begun it. */
  readonly from?: Checkpoint;
  readonly delivery: Delivery;
  readonly idle: IdleDetection;
  /** Lets another pod go on with the run. Rejects when that fails: then its end is still this pod's. */
  readonly letGo: (waits: Waits) => Promise<void>;
  /** Takes back what the turn asked and nobody waits for any more. */
  readonly withdrawLeft: () => Promise<void>;
  /** Told of what ended a turn in an error, for logs. */
  readonly onFault: (error: unknown) => void;
}

/**
 * Runs one turn to its end. Resolves when the turn has ended or another pod owns it; rejects when it could not be let
 * go of. By then its calls
 * and its delegates have ended too, and what they asked is taken back.
 */
export async function runTurn(options: RunOptions): Promise<void> {
  const { run, writer, stopped, support, delivery, idle, history, input, onFault, limits } = options;
  const { from = BEGINNING } = options;
  const clock = startWorkClock(limits.workMs, from.workedMs);
  const ending = new AbortController();
  const budget = createBudget(limits.tokens);
  budget.spend(from.used);
  const turn = {
    run,
    support,
    delivery,
    idle,
    append: (event) => writer.append(event),
    flush: () => writer.save([]),
    poll: () => writer.poll(),
    openQuestions: from.pauses.length,
  } satisfies RunContext['turn'];
  const context: RunContext = {
    ...options,
    turn,
    clock,
    budget,
    callIds: new Set(from.callIds),
    open: new Set(),
    delegated: new Set(),
    inheritedPauses: inheritedPausesOf(from),
    depth: 0,
    signal: AbortSignal.any([stopped, writer.stopped, writer.fenced, clock.over, ending.signal]),
  };
  const stopPolling = startPolling(writer, clock);
  const withdrawLeft = async () => {
    if (turn.openQuestions > 0) await options.withdrawLeft().catch(onFault);
  };
  const said: Message[] = [];
  try {
    const talk = { heard: [...history, ...input], said };
    const reason = await runSteps(context, options, talk, (why) => ending.abort(why), from);
    await withdrawLeft();
    await finishTurn(options, [...input, ...said], reason, budget.used);
  } catch (error) {
    ending.abort(error);
    if (isInterrupted(stopped)) return await options.letGo(waitsOf(context));
    await withdrawLeft();
    if (error instanceof RunFencedError) return;
    const cause = clock.over.aborted ? new TurnTooLongError() : error;
    await breakTurn(options, [...input, ...said], cause, budget.used);
  } finally {
    stopPolling();
    clock.stop();
  }
}
