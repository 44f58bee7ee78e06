// setTimeout fires at once beyond 2^31-1 ms; waking early only costs one more read.
const SLEEP_MS_MAX = 0x7fffffff;

/**
 * Wakes one sleeper, also when `signal` aborts. A notification that arrives while it does not sleep ends its next sleep at once.
 * A class, because a pod holds one per sleeper and methods on a prototype cost each of them nothing.
 */
export class WakeSignal {
  readonly #signal: AbortSignal | undefined;
  #notified: boolean;
  #wake: (() => void) | undefined;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    this.#notified = signal?.aborted === true;
    signal?.addEventListener('abort', this);
  }

  notify(): void {
    this.#notified = true;
    this.#wake?.();
  }

  /** What the signal calls when it aborts. */
  handleEvent(): void {
    this.notify();
  }

  /** Sleeps until a notification, or until `at` (on performance.now()). Throws the signal's reason when aborted. */
  wait(at: number): Promise<'notified' | 'time'> {
    return new Promise((resolve, reject) => {
      const sleepMs = Math.min(at - performance.now(), SLEEP_MS_MAX);
      const wake = () => {
        clearTimeout(timer);
        this.#wake = undefined;
        if (this.#signal?.aborted === true) return reject(this.#signal.reason);
        resolve(this.#notified ? 'notified' : 'time');
        this.#notified = false;
      };
      const timer = sleepMs > 0 && !this.#notified ? setTimeout(wake, Math.ceil(sleepMs)) : undefined;
      if (timer === undefined) wake();
      else this.#wake = wake;
    });
  }

  /** Removes its listener from the signal. */
  close(): void {
    this.#signal?.removeEventListener('abort', this);
  }
}
