/** Gives a place back once, at the latest when the reader left: one that leaves early never starts its events. */
export function onLeaving(signal: AbortSignal, leave: () => void): () => void {
  let held = true;
  const once = () => {
    if (!held) return;
    held = false;
    leave();
  };
  if (signal.aborted) once();
  else signal.addEventListener('abort', once, { once: true });
  return once;
}
