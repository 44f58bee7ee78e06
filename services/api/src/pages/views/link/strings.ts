import type { Around1, Notice } from '../../kit/notice.ts';

/** What the pages say on which an account of another service is linked to a person. */
export interface LinkStrings {
  /** On the sign-in page. */
  readonly signInWhy: string;
  readonly title: Around1;
  readonly lead: Around1;
  readonly account: string;
  readonly person: string;
  readonly warning: Around1;
  readonly proceed: Around1;
  readonly signOut: string;
  readonly linked: { readonly title: Around1; readonly what: Around1; readonly next: string };
  /** The browser is signed in to another account of the service. */
  readonly other: { readonly title: Around1; readonly what: Around1; readonly next: Around1 };
  readonly spent: Notice;
}
