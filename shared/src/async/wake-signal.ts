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
  #timer: NodeJS.Timeout | undefined;

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

  /** Sleeps until a notification, or until `at` (on performance.now()). `woken` says which. */
  sleep(at: number): Promise<void> {
    return new Promise((resolve) => {
      const sleepMs = Math.min(at - performance.now(), SLEEP_MS_MAX);
      if (sleepMs <= 0 || this.#notified) return resolve();
      this.#wake = resolve;
      this.#timer = setTimeout(resolve, Math.ceil(sleepMs));
    });
  }

  /** Ends a sleep: why it ended. Throws the signal's reason when aborted. */
  woken(): 'notified' | 'time' {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#wake = undefined;
    this.#signal?.throwIfAborted();
    const reason = this.#notified ? 'notified' : 'time';
    this.#notified = false;
    return reason;
  }

  /** Removes its listener from the signal. */
  close(): void {
    this.#signal?.removeEventListener('abort', this);
  }
}
