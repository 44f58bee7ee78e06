import { failed, type ToolOutcome } from '../run/tool.ts';

export interface RemoteTaskRules {
  readonly questionsMax: number;
  readonly questionTimeoutSeconds: number;
}

/**
 * What came of a task. `unauthorized`: the credential was refused, and the task can be continued with another one. `again`:
 * the task can be continued, with a credential that was read anew.
 */
export type RemoteTaskResult =
  | ToolOutcome
  | { readonly type: 'unauthorized'; readonly status: 401 | 403 }
  | { readonly type: 'again' };

const SAID_LENGTH_MAX = 2_000;

/** A task that failed, and what the remote agent said about it. */
export function failedWith(sentence: string, said: string): ToolOutcome {
  return failed(withReason(sentence, said.slice(0, SAID_LENGTH_MAX)));
}

/** A sentence, and what the remote agent said about it. */
export function withReason(sentence: string, said: string): string {
  return said === '' ? `${sentence}.` : `${sentence}: ${said}`;
}

/** What a task has made, for the delegating model. `isWhole` is false where some of it was left out before. */
export function returned(title: string, text: string, lengthMax: number, isWhole = true): ToolOutcome {
  if (text === '') return failed(`${title} ended without an answer.`);
  const cut = text.slice(0, lengthMax).toWellFormed();
  const all = isWhole && cut.length === text.length;
  return { type: 'returned', output: all ? cut : `${cut}\n\n(The rest was cut off.)` };
}
