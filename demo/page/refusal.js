import { isParleyClientError } from '/parley-core.js';

const RETRYABLE = [408, 429, 503];
/** Statuses with which a message has certainly begun no turn. A 503 may come from a pod that does not know. */
const NOT_BEGUN = [408, 429];

/** True if another turn is running in the conversation. A retry can succeed once that has ended. */
export function isBusy(error) {
  return isParleyClientError(error, 'turn_running');
}

/** True if Parley refused the request permanently. */
export function isFinal(error) {
  const { status } = isParleyClientError(error) ? error : {};
  return status < 500 && status >= 400 && !RETRYABLE.includes(status) && !isBusy(error);
}

/** True if the message has certainly begun no turn. */
export function isNotBegun(error) {
  return isBusy(error) || (isParleyClientError(error) && NOT_BEGUN.includes(error.status));
}

/** Parley's own description of the error; if there is none, for example because a proxy replied, `fallback`. */
export function describe(error, fallback) {
  return error?.problem?.detail ?? fallback;
}
