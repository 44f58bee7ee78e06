import type { Message, StepRecord } from '@parley/shared/domain/runs/run';
import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import type { RunContext } from './run-context.ts';
import type { Tool } from './tool.ts';

/** One step of a run, as the input of the function that decides what to do in it. */
export interface StepRequest {
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  /** Prefix of the ids of the text blocks of this step. */
  readonly block: string;
  /** Appends an event to the run's feed. */
  readonly appendEvent: (event: TurnEvent) => Promise<void>;
  readonly signal: AbortSignal;
}

/** A call that the model requests. */
export interface RequestedCall {
  /** The model's id for the call, which is not always unique. */
  readonly modelCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  /** Why the call cannot be made: there is no such tool, or its arguments cannot be passed on. */
  readonly fault?: string;
}

/** The result of a step. */
export interface ModelStep {
  readonly record: StepRecord;
  readonly calls: readonly RequestedCall[];
}

/** Gets the reply of one step: the text and the calls of a model, or a substitute for them. Throws ModelError. */
export type StepReply = (
  step: StepRequest,
  by: Pick<RunContext, 'observer' | 'run' | 'id'>,
) => Promise<ModelStep>;

/**
 * The model could not be reached, or its stream broke. The message contains only a short reason: errors of the SDK contain
 * whole conversations, which must not be logged.
 */
export class ModelError extends Error {
  /** True if the model's server refused the request. */
  readonly isRefusal: boolean;

  constructor(reason: string, isRefusal: boolean) {
    super(`The model could not answer: ${reason}.`);
    this.name = 'ModelError';
    this.isRefusal = isRefusal;
  }
}
