import type { Message } from '@parley/shared/domain/runs/run';
import type { FinishReason } from '@parley/shared/domain/runs/turn-events';
import { INTERRUPTED, isInterrupted, RunInterruptedError } from '@parley/shared/runs/interruption';
import { RunFencedError, type RunWriter, TurnTooLargeError } from '@parley/shared/runs/write';
import type { Usage } from './budget.ts';
import { ModelError } from './model-step.ts';

/** The turn has worked as long as it may. */
export class TurnTooLongError extends Error {
  constructor() {
    super('The turn has worked as long as a turn may work.');
    this.name = 'TurnTooLongError';
  }
}

export interface Ending {
  readonly writer: RunWriter;
  /** Aborted when the person stopped the turn, or, with RunInterruptedError, the pod. */
  readonly stopped: AbortSignal;
  /** Told of what ended a turn in an error, for logs. */
  readonly onFault: (error: unknown) => void;
}

/** Ends a turn that came to an end by itself, or was stopped by its person. */
export async function finishTurn(
  { writer }: Pick<Ending, 'writer'>,
  messages: readonly Message[],
  reason: FinishReason,
  usage: Usage | undefined,
): Promise<void> {
  const status = reason === 'stopped' ? 'stopped' : 'finished';
  await writer.end(
    { type: 'turn-finished', reason, ...(usage !== undefined && { usage }) },
    { status, messages },
  );
}

/**
 * Ends a turn that cannot go on: as stopped when its person stopped it, else with words for people. Never rejects; a
 * turn whose end could not be written has no `writer.outcome`.
 */
export async function breakTurn(
  ending: Ending,
  messages: readonly Message[],
  error: unknown,
  usage?: Usage,
): Promise<void> {
  const { writer, stopped, onFault } = ending;
  try {
    if ((stopped.aborted && !isInterrupted(stopped)) || writer.stopped.aborted) {
      return await finishTurn(ending, messages, 'stopped', usage);
    }
    onFault(error);
    const failure = { ...wordsFor(error), ...(usage !== undefined && { usage }) };
    await writer.end({ type: 'turn-failed', ...failure }, { status: 'failed', messages });
  } catch (fault) {
    if (!(fault instanceof RunFencedError)) onFault(fault);
  }
}

/** What people, and programs, are told of an error that ended a run. */
export function wordsFor(error: unknown): { code: string; message: string } {
  if (error instanceof TurnTooLargeError) {
    return { code: 'too_large', message: 'The turn became too long and was ended.' };
  }
  if (error instanceof TurnTooLongError) {
    return { code: 'timeout', message: 'The turn took too long and was ended.' };
  }
  if (error instanceof RunInterruptedError) return INTERRUPTED;
  if (error instanceof ModelError) {
    return { code: 'model_unavailable', message: 'The model could not answer; try again in a moment.' };
  }
  return { code: 'internal', message: 'Something went wrong on our side; the log has the details.' };
}
