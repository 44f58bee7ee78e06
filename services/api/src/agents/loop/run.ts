import { startWorkClock } from '@parley/shared/async/work-clock';
import { leftOutText } from '@parley/shared/domain/runs/content';
import type { Message } from '@parley/shared/domain/runs/run';
import { cutReply } from '@parley/shared/domain/runs/steps';
import type { Waits } from '@parley/shared/runs/detach';
import { isInterrupted } from '@parley/shared/runs/interruption';
import { NOT_NEEDED, RUN_STOPPED } from '@parley/shared/runs/open-questions';
import { RunFencedError } from '@parley/shared/runs/write';
import { createBudget } from '../run/budget.ts';
import type { TurnObserver } from '../run/observer.ts';
import { type RunContext, waitsOf } from '../run/run-context.ts';
import { BEGINNING, type Checkpoint, callsAt } from './checkpoint.ts';
import { startPolling } from './poll-status.ts';
import { failTurn, finishTurn, TurnTooLongError } from './run-end.ts';
import { type RunAgent, runSteps, type Transcript } from './run-steps.ts';

export interface RunOptions
  extends RunAgent,
    Pick<RunContext, 'engine' | 'writer' | 'run' | 'id' | 'title' | 'delegateTo' | 'released' | 'onFault'>,
    Pick<RunContext['turn'], 'support' | 'reach' | 'notify' | 'delivery' | 'idle'> {
  readonly observer: TurnObserver;
  /** The messages before this turn, and the messages that this turn answers. */
  readonly history: readonly Message[];
  readonly input: readonly Message[];
  /** Aborted when the person stops the turn, or, with RunInterruptedError, when the pod stops. */
  readonly stopped: AbortSignal;
  /** Where the run continues after a take-over. */
  readonly from?: Checkpoint;
  /** Releases the run to another pod. Rejects when that fails: then this pod must end it. */
  readonly release: (waits: Waits) => Promise<void>;
  /** Withdraws the turn's open questions, for which no call waits any more. */
  readonly withdrawQuestions: (reason: string) => Promise<void>;
}

/**
 * Runs one turn to its end. Resolves when the turn has ended or another pod owns it. Rejects if the run could not be released;
 * its calls and delegates have then ended, and their questions are withdrawn.
 */
export async function runTurn(options: RunOptions): Promise<void> {
  const { run, writer, stopped, support, reach, notify, delivery, idle, history, input, onFault, limits } =
    options;
  const { from = BEGINNING } = options;
  const clock = startWorkClock(limits.workMs, from.workedMs);
  const ending = new AbortController();
  const budget = createBudget(limits.tokens);
  budget.spend(from.used);
  const turn = {
    run,
    support,
    reach,
    notify,
    delivery,
    idle,
    append: (event) => writer.append(event),
    poll: () => writer.poll(),
    openQuestions: from.isRestarted ? 1 : 0,
  } satisfies RunContext['turn'];
  const context: RunContext = {
    ...options,
    turn,
    clock,
    budget,
    ...callsAt(from),
    depth: 0,
    signal: AbortSignal.any([stopped, writer.stopped, writer.fenced, clock.over, ending.signal]),
  };
  const stopPolling = startPolling(writer, clock);
  const withdrawQuestions = async (why: string) => {
    if (turn.openQuestions === 0) return;
    const noteOpen = (cause: unknown) => onFault(new Error('Questions of the turn stay open.', { cause }));
    await options.withdrawQuestions(why).then(() => {
      turn.openQuestions = 0;
    }, noteOpen);
  };
  const leftOut = leftOutText(input);
  const transcript: Transcript = { given: [...history, ...input], leftOut, produced: [], cut: '' };
  const remembered = () =>
    options.isForgotten === true
      ? []
      : [...answered(input, transcript), ...transcript.produced, ...cutReply(transcript.cut)];
  try {
    const reason = await runSteps(context, options, transcript, {
      abandon: (why) => ending.abort(why),
      afterCalls: () => withdrawQuestions(NOT_NEEDED),
      from,
    });
    await withdrawQuestions(reason === 'stopped' ? RUN_STOPPED : NOT_NEEDED);
    await finishTurn(options, remembered(), reason, budget.used);
  } catch (error) {
    ending.abort(error);
    if (isInterrupted(stopped)) return await options.release(waitsOf(context));
    await withdrawQuestions(RUN_STOPPED);
    if (error instanceof RunFencedError) return;
    const cause = clock.over.aborted ? new TurnTooLongError() : error;
    await failTurn(options, remembered(), cause, budget.used);
  } finally {
    stopPolling();
    clock.stop();
  }
}

/**
 * The messages that the turn has answered, as they are stored. The last one records whether earlier images are kept from
 * models.
 */
function answered(input: readonly Message[], { areEarlierImagesRefused }: Transcript): readonly Message[] {
  const last = input.at(-1);
  if (areEarlierImagesRefused === undefined || last === undefined) return input;
  return [...input.slice(0, -1), { ...last, areEarlierImagesRefused }];
}
