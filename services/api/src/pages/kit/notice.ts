import type { Html } from './html.ts';

/** A sentence around one name that is already markup. */
export type Around1 = (name: Html) => Html;

/** A page that says one thing: what happened, and what to do next. */
export interface Notice {
  readonly title: string;
  readonly what: string;
  readonly next: string;
}
