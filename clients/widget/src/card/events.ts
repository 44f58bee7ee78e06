import type { Elicitation } from '../elicitation.ts';

/** Detail of `elicitation-change`: the question's new status. */
export interface ElicitationChange {
  readonly elicitationId: string;
  readonly status: Elicitation['status'];
}

/** Detail of `elicitation-settled`. `here` is true when this card settled it. */
export interface ElicitationSettled extends ElicitationChange {
  readonly here: boolean;
}

/** Dispatches an event about a question. It never contains the answer. */
export function dispatch(
  card: Element,
  name: 'change' | 'settled',
  { elicitationId, status }: Elicitation,
  more?: { readonly here: boolean },
): void {
  const detail = { elicitationId, status, ...more };
  card.dispatchEvent(new CustomEvent(`elicitation-${name}`, { detail, bubbles: true, composed: true }));
}
