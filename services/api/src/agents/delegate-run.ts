import type { Message, RunRef } from '@parley/shared/domain/run';
import type { Engine } from '@parley/shared/engine/engine';
import { untilBack } from '@parley/shared/engine/outage';
import { createBudget } from './budget.ts';
import type { Delegator, Working } from './call-tool.ts';
import { delegateFailed, delegateOutcome, textOf } from './delegate-outcome.ts';
import { breakTurn, finishTurn, TurnTooLongError, wordsFor } from './run-end.ts';
import { type RunAgent, runSteps } from './run-steps.ts';
import type { RunWriter } from './run-writer.ts';
import type { ToolOutcome } from './tool.ts';
import { startWorkClock } from './work-clock.ts';

/** An agent with the task that it was given, and the run that was begun for it. */
export interface Delegated extends RunAgent {
  readonly id: string;
  readonly title: string;
  readonly run: RunRef;
  readonly writer: RunWriter;
  readonly input: readonly Message[];
  /** True: what it does is told on the turn's stream from here. False: whoever delegated reads it off its own feed. */
  readonly isRetold: boolean;
}

/** Does a delegate's work to its end. Rejects with the reason of whoever delegated when they end first. */
export async function runDelegate(
  deps: { readonly engine: Pick<Engine, 'withdraw'> },
  from: Delegator,
  given: Delegated,
): Promise<ToolOutcome> {
  const { run, writer, id, title, input } = given;
  const clock = startWorkClock(given.limits.workMs, from.clock);
  const budget = createBudget(given.limits.tokens, from.budget);
  const ending = new AbortController();
  const working: Working = {
    ...from,
    run,
    writer,
    clock,
    budget,
    open: new Set(),
    id,
    title,
    ...(given.isRetold && { agent: id }),
    depth: from.depth + 1,
    signal: AbortSignal.any([from.signal, writer.lost, clock.over, ending.signal]),
  };
  const said: Message[] = [];
  try {
    const reason = await runSteps(working, given, { heard: input, said }, (why) => ending.abort(why));
    await finishTurn({ writer }, [], reason, budget.used);
    return delegateOutcome(title, reason, textOf(said.at(-1)));
  } catch (error) {
    ending.abort(error);
    const cause = clock.over.aborted ? new TurnTooLongError() : error;
    // Whoever delegated ends too then, and has the words for it.
    const onFault = from.signal.aborted ? () => undefined : from.onFault;
    if (!from.signal.aborted) await withdrawOpen(deps, working);
    await breakTurn({ writer, stopped: from.signal, onFault }, [], cause, budget.used);
    from.signal.throwIfAborted();
    return delegateFailed(title, wordsFor(cause).code);
  } finally {
    clock.stop();
  }
}

/** Takes back what a delegate asked that gave up while the turn goes on. */
async function withdrawOpen(
  { engine }: { readonly engine: Pick<Engine, 'withdraw'> },
  { run, open, onFault }: Working,
): Promise<void> {
  const caller = { kind: 'service', tenant: run.tenant } as const;
  await Promise.all(
    [...open].map((id) =>
      untilBack(() => engine.withdraw({ caller, id, reason: 'run_stopped' })).catch(onFault),
    ),
  );
}
