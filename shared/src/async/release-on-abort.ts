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
