import { failed, type ToolOutcome } from '../run/tool.ts';

export interface RemoteTaskRules {
  readonly questionsMax: number;
  readonly questionTimeoutSeconds: number;
}

/**
 * The result of a task. `unauthorized`: the credential was refused, and the task can continue with another one. `again`: the
 * task can continue once the credential has been read again.
 */
export type RemoteTaskResult =
  | ToolOutcome
  | { readonly type: 'unauthorized'; readonly status: 401 | 403 }
  | { readonly type: 'again' };

const SAID_LENGTH_MAX = 2_000;

/** A failed task, with the remote agent's explanation. */
export function failedWith(sentence: string, said: string): ToolOutcome {
  return failed(withReason(sentence, said.slice(0, SAID_LENGTH_MAX)));
}

/** A sentence, followed by the remote agent's explanation. */
export function withReason(sentence: string, said: string): string {
  return said === '' ? `${sentence}.` : `${sentence}: ${said}`;
}

/** The result of a task for the delegating model. `isWhole` is false if a part was removed before. */
export function returned(title: string, text: string, lengthMax: number, isWhole = true): ToolOutcome {
  if (text === '') return failed(`${title} ended without an answer.`);
  const cut = text.slice(0, lengthMax).toWellFormed();
  const all = isWhole && cut.length === text.length;
  return { type: 'returned', output: all ? cut : `${cut}\n\n(The rest was cut off.)` };
}
