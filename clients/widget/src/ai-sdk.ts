import { type Elicitation, isElicitation } from './elicitation.ts';
import './index.ts';
import type { ElicitationCard, ElicitationServer, Strings } from './index.ts';

/** The type of the `UIMessage` parts that carry a question in Parley's chat streams. */
export const ELICITATION_PART = 'data-elicitation-request';

/** The fields of a message part that are read. */
export interface MessagePart {
  readonly type: string;
  readonly id?: string;
  readonly data?: unknown;
}

export interface CardOptions {
  readonly server: ElicitationServer;
  /** Who asks, if the question does not name anyone. */
  readonly agent?: string;
  /** Replaces some of the widget's texts. */
  readonly strings?: Partial<Strings>;
  /** Language of the cards; without it, that of their nearest ancestor that has one. */
  readonly lang?: string;
  /** The page keeps and resumes its chat stream, so the cards need no stream of their own. @default false */
  readonly fed?: boolean;
}

/** The cards of one chat: one for each question, however often its part arrives. */
export interface ElicitationCards {
  /**
   * The card of a message part, updated from the part; undefined for other parts. The same question always gives the same
   * element, so that typed values survive. Call it on every change of the message.
   */
  cardFor(part: MessagePart): ElicitationCard | undefined;
}

/** Creates cards from the AI SDK's message parts, with or without React (see docs/widget.md). */
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
      // Every token of the message calls this again: only a changed part updates the card.
      const { status, serverTime } = card.elicitation ?? {};
      if (status !== data.status || serverTime !== data.serverTime) card.elicitation = data;
      return card;
    },
  };
}
