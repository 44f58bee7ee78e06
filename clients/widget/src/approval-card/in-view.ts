import { InViewTimer } from '../card/in-view.ts';

/** Name of the button that approves all calls. A call's own button has the call's id. */
export const ALL = '';

/** Measures for each button that approves, by name, whether it has been in view for a while without a break. */
export class InViewTimers {
  readonly #timers = new Map<string, InViewTimer>();
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  isReady(name: string): boolean {
    return this.#timers.get(name)?.isReady ?? false;
  }

  /** Watches these buttons, and no others. */
  watch(elements: Iterable<Element>): void {
    const buttons = new Map([...elements].map((element) => [callIdAt(element) ?? ALL, element]));
    for (const name of buttons.keys()) {
      if (!this.#timers.has(name)) this.#timers.set(name, new InViewTimer(this.#onChange));
    }
    for (const [name, timer] of this.#timers) timer.watch(buttons.get(name));
  }

  /** Call this when the page is shown or hidden. */
  update(): void {
    for (const timer of this.#timers.values()) timer.update();
  }
}

/** The id of the call that an element belongs to. */
export function callIdAt(element: Element): string | undefined {
  return element.closest<HTMLElement>('.call')?.dataset.id;
}
