import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { openable } from './card-address.ts';
import type { Elicitation } from './elicitation.ts';

/**
 * Listens for a word from the page that a question opened: its id, from its origin. That is only a reason to look how
 * it stands, for any script of that origin could have said it, and most such pages cannot say it at all.
 */
export class PageHint implements ReactiveController {
  readonly #view: () => Elicitation | undefined;
  readonly #onHint: () => void;

  constructor(host: ReactiveControllerHost, view: () => Elicitation | undefined, onHint: () => void) {
    this.#view = view;
    this.#onHint = onHint;
    host.addController(this);
  }

  hostConnected(): void {
    window.addEventListener('message', this.#hear);
  }

  hostDisconnected(): void {
    window.removeEventListener('message', this.#hear);
  }

  readonly #hear = ({ origin, data }: MessageEvent<unknown>): void => {
    const view = this.#view();
    const address = openable(view?.url);
    if (address === undefined || data !== view?.elicitationId) return;
    if (new URL(address.href).origin === origin) this.#onHint();
  };
}
