import { html } from '../../kit/html.ts';
import type { ConsoleSignInStrings } from './strings.ts';

export const ENGLISH_CONSOLE_SIGN_IN: ConsoleSignInStrings = {
  signInWhy: 'This is the console of those who operate this service. Sign in to see it.',
  devSignInHelp: 'Any name. It is written to the log with what you do.',
  noRole: {
    title: 'You have no role here',
    what: (person) => html`You are signed in as ${person}. That account may not use this console.`,
    next: 'If you should, ask the people who manage your accounts for a role.',
    another: 'Use another account',
  },
};
