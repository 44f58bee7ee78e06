import type { Message } from '@parley/shared/domain/runs/run';
import type { FinishReason } from '@parley/shared/domain/runs/turn-events';
import { RunLostError, type RunWriter, TurnTooLargeError } from '../../../../../shared/src/runs/write.ts';
import type { Usage } from './budget.ts';
import { ModelError } from './model-step.ts';

/** The turn has worked as long as it may. */
export class TurnTooLongError extends Error {
  constructor() {
    super('The turn has worked as long as a turn may work.');
    this.name = 'TurnTooLongError';
  }
}

/** The reason of `stopped` when it is the pod that stops, not the person. */
export class TurnInterruptedError extends Error {
  constructor(message = 'The pod that ran the turn is going away.') {
    super(message);
    this.name = 'TurnInterruptedError';
  }
}

/** The reason of `stopped` when all of the turn waits for its person, and no pod is to hold it meanwhile. */
export class TurnDetachedError extends TurnInterruptedError {
  constructor() {
    super('The turn waits for its person.');
    this.name = 'TurnDetachedError';
  }
}

/** True when it is the pod that stops, or lets go of the turn. */
export function isInterrupted(stopped: AbortSignal): boolean {
  return stopped.reason instanceof TurnInterruptedError;
}

/** True when another pod goes on with the run, or already does: nothing of it may be ended here. */
export function isLeftToOthers(signal: AbortSignal): boolean {
  return isInterrupted(signal) || signal.reason instanceof RunLostError;
}

export interface Ending {
  readonly writer: RunWriter;
  /** Aborted when the person stopped the turn, or, with TurnInterruptedError, the pod. */
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
    if (!(fault instanceof RunLostError)) onFault(fault);
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
  if (error instanceof TurnInterruptedError) return INTERRUPTED;
  if (error instanceof ModelError) {
    return { code: 'model_unavailable', message: 'The model could not answer; try again in a moment.' };
  }
  return { code: 'internal', message: 'Something went wrong on our side; the log has the details.' };
}

/** What is told of a turn whose pod went away. */
export const INTERRUPTED = {
  code: 'interrupted',
  message: 'The turn was interrupted; please ask again.',
} as const;
