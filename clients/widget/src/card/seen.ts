/** How long it takes, in ms. */
const LOOK_FIRST_MS = 1_000;
// A fraction below one: at some zooms a fully visible box measures a hair less.
const WHOLE = 0.95;

/**
 * Whether an element has been in view without a break for a while. What opens a page stays inactive until then, so that
 * a click meant for something else cannot hit it (clickjacking).
 */
export class SeenFor {
  isSeen = false;
  readonly #onChange: () => void;
  #watched: Element | undefined;
  #inView = false;
  #observer: IntersectionObserver | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Watches another element from now on, or none. */
  watch(element: Element | undefined): void {
    if (element === this.#watched) return;
    this.#watched = element;
    this.#observer?.disconnect();
    this.#inView = false;
    this.judge();
    if (element === undefined) return;
    this.#observer = new IntersectionObserver(
      (entries) => {
        this.#inView = (entries.at(-1)?.intersectionRatio ?? 0) >= WHOLE;
        this.judge();
      },
      { threshold: [0, WHOLE] },
    );
    this.#observer.observe(element);
  }

  /** To be called when the page is shown or hidden. */
  judge(): void {
    clearTimeout(this.#timer);
    const isShown = this.#inView && document.visibilityState === 'visible';
    if (isShown && !this.isSeen) this.#timer = setTimeout(() => this.#set(true), LOOK_FIRST_MS);
    if (!isShown && this.isSeen) this.#set(false);
  }

  #set(isSeen: boolean): void {
    this.isSeen = isSeen;
    this.#onChange();
  }
}
