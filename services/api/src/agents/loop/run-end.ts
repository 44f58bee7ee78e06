import type { Message } from '@parley/shared/domain/runs/run';
import type { FinishReason } from '@parley/shared/domain/runs/turn-events';
import { INTERRUPTED, isInterrupted, RunInterruptedError } from '@parley/shared/runs/interruption';
import { RunFencedError, RunLostError, type RunWriter, TurnTooLargeError } from '@parley/shared/runs/write';
import type { Usage } from '../run/budget.ts';
import { ModelError } from '../run/step.ts';

/** The turn has reached its limit of working time. */
export class TurnTooLongError extends Error {
  constructor() {
    super('The turn has reached its limit of working time.');
    this.name = 'TurnTooLongError';
  }
}

interface RunEnding {
  readonly writer: RunWriter;
  /** Aborted when the person stops the turn, or, with RunInterruptedError, when the pod stops. */
  readonly stopped: AbortSignal;
  /** Receives the error that ended a turn, for logs. */
  readonly onFault: (error: unknown) => void;
}

/** Writes the end of a turn that finished or that its person stopped. */
export async function finishTurn(
  { writer }: Pick<RunEnding, 'writer'>,
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
 * Writes the end of a turn that cannot continue: as stopped if its person stopped it, otherwise as failed, with a message for
 * people. Never rejects. If the end could not be written, `writer.outcome` stays undefined.
 */
export async function failTurn(
  ending: RunEnding,
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
    const failure = { ...failureOf(error), ...(usage !== undefined && { usage }) };
    await writer.end({ type: 'turn-failed', ...failure }, { status: 'failed', messages });
  } catch (fault) {
    if (!(fault instanceof RunFencedError)) onFault(fault);
  }
}

/** The code and message, for clients and people, of the error that ended a run. */
export function failureOf(error: unknown): { code: string; message: string } {
  if (error instanceof TurnTooLargeError) {
    return { code: 'too_large', message: 'The turn became too long and was ended.' };
  }
  if (error instanceof TurnTooLongError) {
    return { code: 'timeout', message: 'The turn took too long and was ended.' };
  }
  if (error instanceof RunLostError) {
    return { code: 'lost', message: 'A part of the turn was lost; please ask again.' };
  }
  if (error instanceof RunInterruptedError) return INTERRUPTED;
  if (error instanceof ModelError) {
    return { code: 'model_unavailable', message: 'The model could not answer; try again in a moment.' };
  }
  return { code: 'internal', message: 'Something went wrong on our side; the log has the details.' };
}
