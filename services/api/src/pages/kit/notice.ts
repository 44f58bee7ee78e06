import type { Html } from './html.ts';

/** A sentence around a name that was made markup already. */
export type Around1 = (name: Html) => Html;

/** A page that says one thing: what happened, and what to do next. */
export interface Notice {
  readonly title: string;
  readonly what: string;
  readonly next: string;
}
