import { ElicitationCard } from './card.ts';

export { ElicitationCard, type ElicitationChange, type ElicitationSettled } from './card.ts';
export { languageOf } from './card-language.ts';
export type { CardState } from './card-state.ts';
export { type Elicitation, isElicitation, isOpen } from './elicitation.ts';
export {
  type Answer,
  type Connection,
  createElicitationServer,
  type ElicitationServer,
  type ElicitationServerOptions,
  Refusal,
} from './server.ts';
export { type Strings, stringsFor } from './strings.ts';

// A page may load this file twice, from two places; the first one stays.
if (customElements.get('elicitation-card') === undefined) {
  customElements.define('elicitation-card', ElicitationCard);
}

declare global {
  interface HTMLElementTagNameMap {
    'elicitation-card': ElicitationCard;
  }
  interface HTMLElementEventMap {
    'elicitation-change': CustomEvent<import('./card.ts').ElicitationChange>;
    'elicitation-settled': CustomEvent<import('./card.ts').ElicitationSettled>;
  }
}
