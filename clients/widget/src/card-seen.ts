import type { ReactiveController, ReactiveControllerHost } from 'lit';

// A fraction below one: at some zooms a fully visible box measures a hair less.
const WHOLE = 0.95;

/**
 * Whether an element has been in view without a break for `ms`. What opens a page stays inactive until then, so that
 * a click meant for something else cannot hit it (clickjacking).
 */
export class SeenFor implements ReactiveController {
  #isSeen = false;
  readonly #host: ReactiveControllerHost;
  readonly #ms: number;
  #watched: Element | undefined;
  #inView = false;
  #observer: IntersectionObserver | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ear: AbortController | undefined;

  constructor(host: ReactiveControllerHost, ms: number) {
    this.#host = host;
    this.#ms = ms;
    host.addController(this);
  }

  get isSeen(): boolean {
    return this.#isSeen;
  }

  /** Watches another element from now on, or none. */
  watch(element: Element | undefined): void {
    if (element === this.#watched) return;
    this.#observer?.disconnect();
    this.#watched = element;
    this.#inView = false;
    this.#judge();
    if (element !== undefined) this.#observe(element);
  }

  hostConnected(): void {
    this.#ear = new AbortController();
    document.addEventListener('visibilitychange', () => this.#judge(), { signal: this.#ear.signal });
    if (this.#watched !== undefined) this.#observe(this.#watched);
  }

  hostDisconnected(): void {
    this.#ear?.abort();
    this.#observer?.disconnect();
    this.#inView = false;
    this.#judge();
  }

  #observe(element: Element): void {
    this.#observer = new IntersectionObserver(
      (entries) => {
        this.#inView = (entries.at(-1)?.intersectionRatio ?? 0) >= WHOLE;
        this.#judge();
      },
      { threshold: [0, WHOLE] },
    );
    this.#observer.observe(element);
  }

  #judge(): void {
    const isShown = this.#inView && document.visibilityState === 'visible';
    if (!isShown) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#set(false);
    } else if (this.#timer === undefined) {
      this.#timer = setTimeout(() => this.#set(true), this.#ms);
    }
  }

  #set(isSeen: boolean): void {
    if (isSeen === this.#isSeen) return;
    this.#isSeen = isSeen;
    this.#host.requestUpdate();
  }
}
