import { type Html, html } from '../../kit/html.ts';

/** What the pages say on which operators sign in, in one language. */
export const ENGLISH_CONSOLE_SIGN_IN = {
  /** On the sign-in page, in place of what it says about the link of a question. */
  signInWhy: 'This is the console of those who operate this service. Sign in to see it.',
  devSignInHelp: 'Any name. It is written to the log with what you do.',
  noRole: {
    title: 'You have no role here',
    what: (person: Html) => html`You are signed in as ${person}. That account may not use this console.`,
    next: 'If you should, ask the people who manage your accounts for a role.',
    another: 'Use another account',
  },
};
export type ConsoleSignInStrings = typeof ENGLISH_CONSOLE_SIGN_IN;
