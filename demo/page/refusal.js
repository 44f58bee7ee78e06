import { isParleyClientError } from '/parley-core.js';

const RETRYABLE = [408, 429, 503];
/** Statuses of a message that began no turn. A 503 may come from a pod that does not know whether one began. */
const NOT_BEGUN = [408, 429];

/** Whether another turn is running in the conversation: a retry can succeed once that has ended. */
export function isBusy(error) {
  return isParleyClientError(error, 'turn_running');
}

/** Whether Parley refused the request for good. */
export function isFinal(error) {
  const { status } = isParleyClientError(error) ? error : {};
  return status < 500 && status >= 400 && !RETRYABLE.includes(status) && !isBusy(error);
}

/** Whether the message certainly began no turn. */
export function isNotBegun(error) {
  return isBusy(error) || (isParleyClientError(error) && NOT_BEGUN.includes(error.status));
}

/** Parley's own description of the error; without one, as when a proxy replied, `fallback`. */
export function describe(error, fallback) {
  return error?.problem?.detail ?? fallback;
}
