/** What was refused: `words`, `code` and `retryAfterMs` are Parley's, and there when it said so. */
export class Refusal extends Error {
  constructor(status, problem, retryAfterMs) {
    super(problem?.detail ?? `The server answered with ${status}.`);
    this.status = status;
    this.words = problem?.detail;
    this.code = problem?.code;
    this.retryAfterMs = retryAfterMs;
  }
}

const PASSING = [408, 429, 503];
/** A 503 may come from a pod that did not hear whether the turn began. */
const UNBEGUN = [408, 429];

/** Refused since another turn runs in the conversation: asking again helps once that has ended. */
export function isBusy(error) {
  return error instanceof Refusal && error.code === 'turn_running';
}

/** Refused by Parley, and asking again would not help. */
export function isFinal(error) {
  return error instanceof Refusal && error.status < 500 && !PASSING.includes(error.status) && !isBusy(error);
}

/** Whoever gets this for a message knows that its turn has not begun. */
export function isUnbegun(error) {
  return error instanceof Refusal && (UNBEGUN.includes(error.status) || isBusy(error));
}

/** What Parley said; or these words when it said nothing, as when a proxy does not reach it. */
export function wordsOf(error, otherwise) {
  return error?.words ?? otherwise;
}
