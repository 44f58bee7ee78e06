import type { Elicitation } from '../elicitation.ts';

/** What a card shows, as its attribute `data-state` says it. `elsewhere` was settled, but not by this card. */
export type CardState =
  | 'loading'
  | 'sending'
  | 'refused'
  | 'offline'
  | 'elsewhere'
  | 'gone'
  | Elicitation['status'];

/** States in which nothing can be done any more. */
export function isOver(state: CardState): boolean {
  return ['elsewhere', 'gone', 'accepted', 'declined', 'cancelled', 'expired', 'withdrawn'].includes(state);
}
