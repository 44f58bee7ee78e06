/** How an ask ended. Only `accepted` is an answer of the person. */
export type AskOutcome<Value> =
  | { readonly status: 'accepted'; readonly value: Value; readonly handler: string }
  /** The person refused. */
  | { readonly status: 'declined'; readonly handler: string }
  /** The person dismissed the question; or nobody could be asked, and the elicitor is configured to cancel then. */
  | { readonly status: 'cancelled'; readonly handler?: string }
  /** The deadline passed. */
  | { readonly status: 'expired'; readonly handler?: string }
  /** The question was withdrawn by somebody else. */
  | { readonly status: 'withdrawn'; readonly reason: string; readonly handler: string }
  /** Nobody could be asked; the value is the asker's own `fallback`. */
  | { readonly status: 'defaulted'; readonly value: Value };

/** A handler that did not ask, and why. The reason never contains an answer. */
export interface Attempt {
  readonly handler: string;
  readonly reason: 'cannot' | 'failed';
  readonly error?: unknown;
}

/** Nobody could be asked, and the ask has no fallback. `attempts` lists each handler and why it did not ask. */
export class NobodyCanAskError extends Error {
  readonly code = 'nobody_can_ask';
  readonly attempts: readonly Attempt[];

  constructor(kind: string, attempts: readonly Attempt[]) {
    const names = attempts.map(
      ({ handler, reason }) => `${handler}: ${reason === 'cannot' ? 'cannot show it' : 'failed'}`,
    );
    super(`No handler could ask for a ${kind} (${names.join(', ') || 'there is none'}).`);
    this.name = 'NobodyCanAskError';
    this.attempts = attempts;
  }
}

/**
 * The person was asked, but the outcome of the question cannot be read, for example because the token has expired. Nobody else
 * is asked, because the person may have answered. `cause` says why. If the question had no key, it was withdrawn if possible.
 */
export class QuestionLostError extends Error {
  readonly code = 'question_lost';
  readonly elicitationId: string;

  constructor(elicitationId: string, cause: unknown) {
    super(`What became of the question ${elicitationId} cannot be read.`, { cause });
    this.name = 'QuestionLostError';
    this.elicitationId = elicitationId;
  }
}
