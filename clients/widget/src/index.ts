import { ElicitationCard } from './card/card.ts';

export { ElicitationCard } from './card/card.ts';
export type { ElicitationChange, ElicitationSettled } from './card/events.ts';
export type { CardState } from './card/state.ts';
export { type Elicitation, isOpen } from './elicitation.ts';
export type { Answer, Connection, ElicitationServer } from './server/type.ts';
export { ENGLISH } from './strings/en.ts';
export type { Strings } from './strings/strings.ts';

// A page may load this file twice, from two addresses; the first definition stays.
if (customElements.get('elicitation-card') === undefined) {
  customElements.define('elicitation-card', ElicitationCard);
}

declare global {
  interface HTMLElementTagNameMap {
    'elicitation-card': ElicitationCard;
  }
  interface HTMLElementEventMap {
    'elicitation-change': CustomEvent<import('./card/events.ts').ElicitationChange>;
    'elicitation-settled': CustomEvent<import('./card/events.ts').ElicitationSettled>;
  }
}
