import { whenAborted } from '@parley/shared/async/release-on-abort';
import { isInterrupted } from '@parley/shared/runs/interruption';

// Shorter than the time that the end of a run waits for its calls.
const INTERRUPTED_CALL_GRACE_MS = 3_000;

/**
 * Aborted together with the run, until the run is released. When the pod shuts down, a dispatched call gets a grace period to
 * return.
 */
export function callSignal(
  signal: AbortSignal,
  isDispatched: () => boolean,
): { readonly signal: AbortSignal; readonly release: () => void } {
  const ending = new AbortController();
  const end = () => ending.abort(signal.reason);
  const release = whenAborted(signal, () => {
    if (isInterrupted(signal) && isDispatched()) setTimeout(end, INTERRUPTED_CALL_GRACE_MS).unref();
    else end();
  });
  return { signal: ending.signal, release };
}
