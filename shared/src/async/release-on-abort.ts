/** Calls `then` once the signal is aborted, at once where it was. The returned function has it forgotten. */
export function whenAborted(signal: AbortSignal | undefined, then: () => void): () => void {
  if (signal?.aborted === true) then();
  else signal?.addEventListener('abort', then, { once: true });
  return () => signal?.removeEventListener('abort', then);
}

/** Calls `release` once: when the returned function is called, or when the signal is aborted. */
export function releaseOnAbort(signal: AbortSignal, release: () => void): () => void {
  let isHeld = true;
  const once = () => {
    if (!isHeld) return;
    isHeld = false;
    signal.removeEventListener('abort', once);
    release();
  };
  if (signal.aborted) once();
  else signal.addEventListener('abort', once, { once: true });
  return once;
}
