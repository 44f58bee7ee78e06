import type { ReactiveController, ReactiveControllerHost } from 'lit';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The times left that are worth saying aloud, in ms, the longest first. */
const MARKS = [5 * MINUTE, MINUTE, 0] as const;
export type Mark = (typeof MARKS)[number];

/** Counts down to a deadline on whichever clock `remaining` reads, and tells when a mark is passed. */
export class Countdown implements ReactiveController {
  readonly #host: ReactiveControllerHost;
  readonly #remaining: () => number | undefined;
  readonly #onMark: (mark: Mark) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #last: number | undefined;
  #key: unknown;

  /** `remaining` is the time left in ms, or nothing when there is no deadline (any more). */
  constructor(
    host: ReactiveControllerHost,
    remaining: () => number | undefined,
    onMark: (mark: Mark) => void,
  ) {
    this.#host = host;
    this.#remaining = remaining;
    this.#onMark = onMark;
    host.addController(this);
  }

  hostConnected(): void {
    this.#host.requestUpdate();
  }

  hostDisconnected(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Begins anew when the deadline is another one: what it starts below is not said. */
  restart(key: unknown): void {
    if (key === this.#key) return;
    this.#key = key;
    this.#last = undefined;
  }

  hostUpdated(): void {
    clearTimeout(this.#timer);
    const left = this.#remaining();
    const last = this.#last;
    this.#last = left;
    if (left === undefined) return;
    const passed = MARKS.filter((mark) => last !== undefined && last > mark && left <= mark).at(-1);
    if (passed !== undefined) this.#onMark(passed);
    if (left > 0) this.#timer = setTimeout(() => this.#host.requestUpdate(), nextChange(left));
  }
}

/** How long what is shown stays true: a second when near, else a minute. */
function nextChange(left: number): number {
  const step = left > HOUR ? MINUTE : SECOND;
  return (left % step) + 20;
}
