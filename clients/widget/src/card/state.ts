import type { Elicitation } from '../elicitation.ts';

/** The state of a card, also in its attribute `data-state`. `elsewhere`: settled, but not by this card. */
export type CardState =
  | 'loading'
  | 'sending'
  | 'refused'
  | 'offline'
  | 'elsewhere'
  | 'gone'
  | Elicitation['status'];

/** Whether the question can no longer be answered. */
export function isOver(state: CardState): boolean {
  return ['elsewhere', 'gone', 'accepted', 'declined', 'cancelled', 'expired', 'withdrawn'].includes(state);
}
