import type { Around1 } from '../../kit/notice.ts';

/** What the pages say on which operators sign in, in one language. */
export interface ConsoleSignInStrings {
  /** On the sign-in page, in place of what it says about the link of a question. */
  readonly signInWhy: string;
  readonly devSignInHelp: string;
  readonly noRole: {
    readonly title: string;
    readonly what: Around1;
    readonly next: string;
    readonly another: string;
  };
}
