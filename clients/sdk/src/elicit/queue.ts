/** A queue for one screen. */
export interface ScreenQueue {
  /** Waits for the screen. The returned function releases it to the next one. Rejects with the signal's reason. */
  acquire(signal: AbortSignal, options: { readonly first: boolean }): Promise<() => void>;
}

/**
 * Gives one prompt at a time the screen, in order. With `first`, a prompt goes before the others: it is a later page of the
 * same ask.
 */
export function createScreenQueue(): ScreenQueue {
  const waiting: { start: () => void }[] = [];
  let isTaken = false;

  function release(): void {
    const next = waiting.shift();
    if (next === undefined) isTaken = false;
    else next.start();
  }

  /** Each release function works only once. */
  function once(): () => void {
    let isDone = false;
    return () => {
      if (isDone) return;
      isDone = true;
      release();
    };
  }

  return {
    acquire(signal, { first }) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        if (!isTaken) {
          isTaken = true;
          return resolve(once());
        }
        const abort = () => {
          waiting.splice(waiting.indexOf(entry), 1);
          reject(signal.reason);
        };
        const entry = {
          start() {
            signal.removeEventListener('abort', abort);
            resolve(once());
          },
        };
        signal.addEventListener('abort', abort, { once: true });
        if (first) waiting.unshift(entry);
        else waiting.push(entry);
      });
    },
  };
}
