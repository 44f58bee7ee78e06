import { type Elicitation, isElicitation } from './elicitation.ts';
import './index.ts';
import type { ElicitationCard, ElicitationServer, Strings } from './index.ts';

/** The part of a `UIMessage` that holds a question, as Parley's chat streams write it. */
export const ELICITATION_PART = 'data-elicitation-request';

/** What is read of a message part; parts of all other types pass. */
export interface MessagePart {
  readonly type: string;
  readonly id?: string;
  readonly data?: unknown;
}

export interface CardOptions {
  readonly server: ElicitationServer;
  /** Who asks, where the question does not say. */
  readonly agent?: string;
  /** Words in place of the widget's own. */
  readonly strings?: Partial<Strings>;
  /** Language of the cards; without it, that of the place they stand in. */
  readonly lang?: string;
  /** The chat stream is kept open and resumed, so that the cards need no stream of their own. @default false */
  readonly fed?: boolean;
}

/** The cards of one chat: one for each question, however often its part comes. */
export interface ElicitationCards {
  /**
   * The card of a message part, with what the part says now; nothing when the part is no question. The same question
   * gives the same element, so that what a person typed stays. Call it on every change of the message.
   */
  cardFor(part: MessagePart): ElicitationCard | undefined;
}

/** Makes cards of the AI SDK's message parts, for pages without React or with it (see docs/widget.md). */
export function createElicitationCards(options: CardOptions): ElicitationCards {
  const cards = new Map<string, ElicitationCard>();

  function cardOf({ elicitationId }: Elicitation): ElicitationCard {
    const known = cards.get(elicitationId);
    if (known !== undefined) return known;
    const card = document.createElement('elicitation-card');
    card.server = options.server;
    if (options.agent !== undefined) card.agent = options.agent;
    if (options.strings !== undefined) card.strings = options.strings;
    if (options.lang !== undefined) card.lang = options.lang;
    card.toggleAttribute('fed', options.fed === true);
    cards.set(elicitationId, card);
    return card;
  }

  return {
    cardFor({ type, data }) {
      if (type !== ELICITATION_PART || !isElicitation(data)) return undefined;
      const card = cardOf(data);
      // A message is told anew for each word of it: only a part that changed is news.
      const { status, serverTime } = card.elicitation ?? {};
      if (status !== data.status || serverTime !== data.serverTime) card.elicitation = data;
      return card;
    },
  };
}
