import { type Approval, type ApprovalCard, isApproval } from './approvals.ts';
import { type Elicitation, isElicitation } from './elicitation.ts';
import './index.ts';
import type { ElicitationCard, ElicitationServer, Strings } from './index.ts';

/** The type of the `UIMessage` parts that carry a question in Parley's chat streams. */
export const ELICITATION_PART = 'data-elicitation-request';

/** The type of the `UIMessage` parts that carry an approval. */
const APPROVAL_PART = 'data-approval-request';

/** The fields of a message part that this file reads. */
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
  /** The language of the cards; without it, the language of their nearest ancestor with a `lang`. */
  readonly lang?: string;
  /**
   * True if the page keeps and resumes its chat stream, so that cards of questions need no stream of their own. Cards of
   * approvals always follow their approvals themselves. @default false
   */
  readonly fed?: boolean;
}

/** The cards of one chat: one for each question, and one for the calls of each step, however often their parts come. */
export interface ElicitationCards {
  /**
   * The card of a message part, updated from the part; undefined for other parts. The same question, and the approvals of one
   * step, always return the same element, so that typed values are kept. Call this on every change of the message.
   */
  cardFor(part: MessagePart): ElicitationCard | ApprovalCard | undefined;
}

/**
 * Creates cards from the AI SDK's message parts, with or without React (see docs/widget.md).
 *
 * @example
 * const cards = createElicitationCards({ server: createElicitationServer({ getToken }), agent: 'Support' });
 * for (const part of message.parts) {
 *   const card = cards.cardFor(part); // undefined for other parts
 *   if (card && !card.isConnected) place.append(card);
 * }
 */
export function createElicitationCards(options: CardOptions): ElicitationCards {
  const cards = new Map<string, ElicitationCard>();
  /** The cards of approvals, by step. */
  const approvalCards = new Map<string, ApprovalCard>();

  function prepared<Card extends ElicitationCard | ApprovalCard>(card: Card): Card {
    card.server = options.server;
    if (options.strings !== undefined) card.strings = options.strings;
    if (options.lang !== undefined) card.lang = options.lang;
    return card;
  }

  function approvalCardOf(approval: Approval): ApprovalCard {
    const { approvalId, step = approvalId } = approval;
    const card = approvalCards.get(step) ?? prepared(document.createElement('approval-card'));
    approvalCards.set(step, card);
    const known = card.approvals ?? [];
    const before = known.find((one) => one.approvalId === approvalId);
    // This runs for every token of the message, so only a changed part updates the card.
    if (before === undefined) card.approvals = [...known, approval];
    else if (before.status !== approval.status) {
      card.approvals = known.map((one) => (one === before ? approval : one));
    }
    return card;
  }

  function cardOf({ elicitationId }: Elicitation): ElicitationCard {
    const known = cards.get(elicitationId);
    if (known !== undefined) return known;
    const card = prepared(document.createElement('elicitation-card'));
    if (options.agent !== undefined) card.agent = options.agent;
    card.toggleAttribute('fed', options.fed === true);
    cards.set(elicitationId, card);
    return card;
  }

  return {
    cardFor({ type, data }) {
      if (type === APPROVAL_PART && isApproval(data)) return approvalCardOf(data);
      if (type !== ELICITATION_PART || !isElicitation(data)) return undefined;
      const card = cardOf(data);
      // This runs for every token of the message, so only a changed part updates the card.
      const { status, serverTime } = card.elicitation ?? {};
      if (status !== data.status || serverTime !== data.serverTime) card.elicitation = data;
      return card;
    },
  };
}
