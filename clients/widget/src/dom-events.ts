import { type CardOptions, createElicitationCards, ELICITATION_PART } from './ai-sdk.ts';
import { type Elicitation, isElicitation } from './elicitation.ts';

/** The default name of the DOM event that carries a question. */
export const ELICITATION_EVENT = `ikp-${ELICITATION_PART}`;

export interface DomEventOptions extends CardOptions {
  /** The target of the listener. The events bubble, so it may be `document`. */
  readonly target: EventTarget;
  /** @default 'ikp-data-elicitation-request' */
  readonly event?: string;
  /**
   * Returns the element to which the card of a question is appended; without one, the card is not shown. Called again when the
   * card is no longer in the page.
   */
  place(elicitation: Elicitation): Element | null | undefined;
}

/**
 * Shows a card for each question that comes as a DOM event. The `detail` of the event is the data of a
 * `data-elicitation-request` part; other keys are ignored. The returned function stops listening and removes the cards.
 *
 * @example
 * const stop = mountOnDomEvents({
 *   target: document,
 *   server: createElicitationServer({ getToken }),
 *   place: () => document.querySelector('#questions'),
 * });
 */
export function mountOnDomEvents(options: DomEventOptions): () => void {
  const { target, event = ELICITATION_EVENT, place } = options;
  const cards = createElicitationCards(options);
  const mounted = new Set<Element>();

  function onQuestion(received: Event): void {
    const { detail } = received as CustomEvent<unknown>;
    if (!isElicitation(detail)) return;
    const card = cards.cardFor({ type: ELICITATION_PART, data: detail });
    if (card === undefined || card.isConnected) return;
    const parent = place(detail);
    if (!parent) return;
    mounted.add(card);
    parent.append(card);
  }

  target.addEventListener(event, onQuestion);
  return () => {
    target.removeEventListener(event, onQuestion);
    for (const card of mounted) card.remove();
    mounted.clear();
  };
}
