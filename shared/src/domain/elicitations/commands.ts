import type { Action } from '@parley/core/domain/elicitations/status';
import type { CommonCommand } from '@parley/core/domain/family';

/** A person's answer as a command. `surface` is where it was given. */
export interface AnswerCommand {
  readonly type: Action;
  readonly content?: unknown;
  readonly responseId?: string;
  readonly surface: string;
}

/** Finishes a url elicitation from the server's side. `key` names the service key that sent it. */
export interface CompleteCommand {
  readonly type: 'complete';
  readonly surface: string;
  readonly key?: string | undefined;
}

/** A request to change the status of an elicitation. */
export type Command = AnswerCommand | CompleteCommand | CommonCommand;
