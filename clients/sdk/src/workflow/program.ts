import type { AnswerOf, Ask } from '../elicit/asks.ts';
import type { AskOutcome } from '../elicit/outcome.ts';

/** What a step receives. */
export interface StepContext {
  /** A key that is the same after a restart. Pass it to the called service, so that a repeated call counts once. */
  readonly key: string;
}

/** What a workflow yields: a question or a step. */
export type WorkflowRequest =
  /** The yield returns the answer. It throws NotAnsweredError unless the person accepted or there is a fallback. */
  | { readonly ask: Ask; readonly outcome?: false }
  /** The yield returns the outcome, of whatever kind. */
  | { readonly ask: Ask; readonly outcome: true }
  /** The yield returns the result of `run`: JSON, recorded once. It throws StepFailedError if `run` failed. */
  | { readonly step: string; readonly run: (context: StepContext) => unknown };

/**
 * A program that asks people while it runs. It must be deterministic: given the same answers, it must do the same again. Time,
 * randomness and calls to other services belong in steps.
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

/**
 * Asks within a workflow and returns the outcome, so that a refusal need not be caught.
 *
 * @example
 * const outcome = yield* askForOutcome({ kind: 'confirmation', message: 'Delete it?' });
 * if (outcome.status !== 'accepted') return;
 */
export function* askForOutcome<const Asked extends Ask>(
  asked: Asked,
): Generator<WorkflowRequest, AskOutcome<AnswerOf<Asked>>, unknown> {
  return (yield { ask: asked, outcome: true }) as AskOutcome<AnswerOf<Asked>>;
}

/**
 * Runs a step once and returns its result, which must be JSON. If the process dies within the step, the step runs again
 * with the same key.
 *
 * @example
 * const order = yield* step('order', ({ key }) => shop.order({ item, idempotencyKey: key }));
 */
export function* step<Result>(
  name: string,
  run: (context: StepContext) => Result | Promise<Result>,
): Generator<WorkflowRequest, Result, unknown> {
  return (yield { step: name, run }) as Result;
}
