import type { AskOutcome } from '../elicit/outcome.ts';

/** A question of a workflow ended without an answer. Thrown at the place where the workflow asked. */
export class NotAnsweredError extends Error {
  readonly code = 'not_answered';
  readonly outcome: Exclude<AskOutcome<unknown>, { status: 'accepted' | 'defaulted' }>;

  constructor(outcome: NotAnsweredError['outcome']) {
    super(`The question was ${outcome.status}.`);
    this.name = 'NotAnsweredError';
    this.outcome = outcome;
  }
}

/** A step of a workflow failed. Thrown at the place where the workflow ran it, and again at every replay. */
export class StepFailedError extends Error {
  readonly code = 'step_failed';
  readonly step: string;

  constructor(name: string, reason: string, options?: ErrorOptions) {
    super(`The step ${name} failed: ${reason}`, options);
    this.name = 'StepFailedError';
    this.step = name;
  }
}

/** The program does something other than what was recorded. Finish old runs with the old program, or start under a new id. */
export class WorkflowChangedError extends Error {
  readonly code = 'workflow_changed';
  readonly position: number;

  constructor(workflowId: string, position: number, what: string) {
    super(`The program of the workflow ${workflowId} has changed: at position ${position} ${what}.`);
    this.name = 'WorkflowChangedError';
    this.position = position;
  }
}
