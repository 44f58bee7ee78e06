import type { AnswerOf, Ask } from '../elicit/asks.ts';
import type { AskOutcome } from '../elicit/outcome.ts';

/** What an effect gets. */
export interface StepContext {
  /** The same after a restart. Give it to the service that is called, so that a repeated call counts once. */
  readonly key: string;
}

/** What a workflow yields: a question, or an effect. */
export type WorkflowRequest =
  /** The yield returns the answer; it throws NotAnsweredError unless the person accepted or there is a fallback. */
  | { readonly ask: Ask; readonly outcome?: false }
  /** The yield returns the outcome, whatever it is. */
  | { readonly ask: Ask; readonly outcome: true }
  /** The yield returns what `run` returned: JSON, recorded once. It throws StepFailedError when `run` failed. */
  | { readonly step: string; readonly run: (context: StepContext) => unknown };

/**
 * A program that asks people as it goes. It must do the same again when it is given the same answers: time, chance and
 * calls to others belong into steps.
 */
export type Workflow<Result> =
  | Generator<WorkflowRequest, Result, unknown>
  | AsyncGenerator<WorkflowRequest, Result, unknown>;

/**
 * Asks within a workflow and returns the typed answer.
 *
 * @example
 * const colour = yield* ask({ kind: 'choice', message: 'Which colour?', options: ['red', 'blue'] });
 */
export function* ask<const Asked extends Ask>(
  asked: Asked,
): Generator<WorkflowRequest, AnswerOf<Asked>, unknown> {
  return (yield { ask: asked }) as AnswerOf<Asked>;
}

/** Asks within a workflow and returns the outcome, so that a refusal need not be caught. */
export function* askForOutcome<const Asked extends Ask>(
  asked: Asked,
): Generator<WorkflowRequest, AskOutcome<AnswerOf<Asked>>, unknown> {
  return (yield { ask: asked, outcome: true }) as AskOutcome<AnswerOf<Asked>>;
}

/**
 * Runs an effect once and returns its result, which must be JSON. A process that dies within the effect runs it again
 * with the same key.
 */
export function* step<Result>(
  name: string,
  run: (context: StepContext) => Result | Promise<Result>,
): Generator<WorkflowRequest, Result, unknown> {
  return (yield { step: name, run }) as Result;
}
