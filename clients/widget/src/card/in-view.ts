/** How long the element must be in view, in ms. */
const IN_VIEW_MS = 1_000;
// The ratio is less than one, because at some zoom levels a fully visible box measures slightly less.
const FULL_RATIO = 0.95;

/**
 * Measures whether an element has been in view without interruption for a while. A link stays inactive until then, so that a
 * click meant for something else cannot hit it (clickjacking).
 */
export class InViewTimer {
  isReady = false;
  readonly #onChange: () => void;
  #watched: Element | undefined;
  #inView = false;
  #observer: IntersectionObserver | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Watches another element, or none. */
  watch(element: Element | undefined): void {
    if (element === this.#watched) return;
    this.#watched = element;
    this.#observer?.disconnect();
    this.#inView = false;
    this.update();
    if (element === undefined) return;
    this.#observer = new IntersectionObserver(
      (entries) => {
        this.#inView = (entries.at(-1)?.intersectionRatio ?? 0) >= FULL_RATIO;
        this.update();
      },
      { threshold: [0, FULL_RATIO] },
    );
    this.#observer.observe(element);
  }

  /** Call this when the page is shown or hidden. */
  update(): void {
    clearTimeout(this.#timer);
    const isShown = this.#inView && document.visibilityState === 'visible';
    if (isShown && !this.isReady) this.#timer = setTimeout(() => this.#set(true), IN_VIEW_MS);
    if (!isShown && this.isReady) this.#set(false);
  }

  #set(isReady: boolean): void {
    this.isReady = isReady;
    this.#onChange();
  }
}
