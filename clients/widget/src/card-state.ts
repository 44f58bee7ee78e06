import { type Elicitation, isOpen } from './elicitation.ts';
import type { Answer, Connection, Refusal } from './server.ts';

/** What a card shows, as its attribute `data-state` says it. `elsewhere` was settled, but not by this card. */
export type CardState =
  | 'loading'
  | 'sending'
  | 'refused'
  | 'offline'
  | 'elsewhere'
  | 'gone'
  | Elicitation['status'];

/** What decides it. */
export interface CardFacts {
  readonly view: Elicitation | undefined;
  readonly connection: Connection;
  readonly isGone: boolean;
  readonly sending: Answer | undefined;
  readonly unsent: Answer | undefined;
  readonly refusal: Refusal | undefined;
  readonly wasOpen: boolean;
  readonly isHere: boolean;
}

/** The one state of a card. An end that the server told stands above all else but what is on its way. */
export function stateOf(facts: CardFacts): CardState {
  const { view } = facts;
  if (facts.isGone && (view === undefined || isOpen(view))) return 'gone';
  if (facts.sending !== undefined && facts.unsent === undefined) return 'sending';
  if (view !== undefined && !isOpen(view))
    return wasAnsweredElsewhere(view, facts) ? 'elsewhere' : view.status;
  if (facts.unsent !== undefined || facts.connection === 'offline') return 'offline';
  if (view === undefined) return 'loading';
  return facts.refusal === undefined ? view.status : 'refused';
}

/** States in which nothing can be done any more. */
export function isOver(state: CardState): boolean {
  return ['elsewhere', 'gone', 'accepted', 'declined', 'cancelled', 'expired', 'withdrawn'].includes(state);
}

function wasAnsweredElsewhere({ status }: Elicitation, { wasOpen, isHere }: CardFacts): boolean {
  return wasOpen && !isHere && status !== 'expired' && status !== 'withdrawn';
}
