import type { Elicitation } from '../elicitation.ts';

/** Detail of `elicitation-change`: the question went from one status to another. */
export interface ElicitationChange {
  readonly elicitationId: string;
  readonly status: Elicitation['status'];
}

/** Detail of `elicitation-settled`. `here` is true when it was this card that settled it. */
export interface ElicitationSettled extends ElicitationChange {
  readonly here: boolean;
}

/** Tells the page what became of a question, and never what was answered. */
export function tell(
  card: Element,
  name: 'change' | 'settled',
  { elicitationId, status }: Elicitation,
  more?: { readonly here: boolean },
): void {
  const detail = { elicitationId, status, ...more };
  card.dispatchEvent(new CustomEvent(`elicitation-${name}`, { detail, bubbles: true, composed: true }));
}
