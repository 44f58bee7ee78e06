import { InViewTimer } from '../card/in-view.ts';

/** The name of the button that approves these calls. For another set of calls, the time in view starts again. */
export function idsOf(calls: readonly { readonly id: string }[]): string {
  return calls.map(({ id }) => id).join(' ');
}

/** Measures whether each approving button, identified by its calls, has been in view without interruption for a while. */
export class InViewTimers {
  readonly #timers = new Map<string, InViewTimer>();
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  isReady(calls: readonly { readonly id: string }[]): boolean {
    return this.#timers.get(idsOf(calls))?.isReady ?? false;
  }

  /** Watches these buttons, and no others. */
  watch(elements: Iterable<Element>): void {
    const buttons = new Map([...elements].map((element) => [buttonNameOf(element), element]));
    for (const name of buttons.keys()) {
      if (!this.#timers.has(name)) this.#timers.set(name, new InViewTimer(this.#onChange));
    }
    for (const [name, timer] of this.#timers) {
      timer.watch(buttons.get(name));
      if (!buttons.has(name)) this.#timers.delete(name);
    }
  }

  /** Call this when the page is shown or hidden. */
  update(): void {
    for (const timer of this.#timers.values()) timer.update();
  }
}

function buttonNameOf(element: Element): string {
  return callIdAt(element) ?? element.closest<HTMLElement>('.all')?.dataset.calls ?? '';
}

/** The id of the call in which an element is. */
export function callIdAt(element: Element): string | undefined {
  return element.closest<HTMLElement>('.call')?.dataset.id;
}
