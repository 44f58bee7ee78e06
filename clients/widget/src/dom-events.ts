import { type CardOptions, createElicitationCards, ELICITATION_PART } from './ai-sdk.ts';
import { type Elicitation, isElicitation } from './elicitation.ts';

/** What chat pages that re-emit data parts as DOM events call the one with a question. */
export const ELICITATION_EVENT = `ikp-${ELICITATION_PART}`;

export interface DomEventOptions extends CardOptions {
  /** Where the events are heard; they bubble, so `document` will do. */
  readonly target: EventTarget;
  /** @default 'ikp-data-elicitation-request' */
  readonly event?: string;
  /**
   * Where the card of a question goes; asked again when the card is no longer in the page. Without an answer it is
   * not shown.
   */
  place(elicitation: Elicitation): Element | null | undefined;
}

/**
 * Shows a card for each question that comes as a DOM event whose `detail` is the data of a
 * `data-elicitation-request` part; keys besides pass. The returned function stops that and takes the cards away.
 */
export function mountOnDomEvents(options: DomEventOptions): () => void {
  const { target, event = ELICITATION_EVENT, place } = options;
  const cards = createElicitationCards(options);
  const mounted = new Set<Element>();

  function hear(heard: Event): void {
    const { detail } = heard as CustomEvent<unknown>;
    if (!isElicitation(detail)) return;
    const card = cards.cardFor({ type: ELICITATION_PART, data: detail });
    if (card === undefined || card.isConnected) return;
    const home = place(detail);
    if (!home) return;
    mounted.add(card);
    home.append(card);
  }

  target.addEventListener(event, hear);
  return () => {
    target.removeEventListener(event, hear);
    for (const card of mounted) card.remove();
    mounted.clear();
  };
}
