// setTimeout fires at once for more than 2^31-1 ms. Waking too early costs only one more read.
const SLEEP_MS_MAX = 0x7fffffff;

/**
 * Wakes one sleeper, on a notification or when `signal` is aborted. A notification while nobody sleeps ends the next sleep at
 * once. This is a class because a pod holds one instance for each sleeper, and methods on a prototype take no memory per
 * instance.
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

  /** The signal calls this when it is aborted. */
  handleEvent(): void {
    this.notify();
  }

  /** Sleeps until a notification, or until the time `at` of performance.now(). Call `woken` afterwards. */
  sleep(at: number): Promise<void> {
    return new Promise((resolve) => {
      const sleepMs = Math.min(at - performance.now(), SLEEP_MS_MAX);
      if (sleepMs <= 0 || this.#notified) return resolve();
      this.#wake = resolve;
      this.#timer = setTimeout(resolve, Math.ceil(sleepMs));
    });
  }

  /** Clears the timer after a sleep and returns why it ended. Throws the signal's reason when aborted. */
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
