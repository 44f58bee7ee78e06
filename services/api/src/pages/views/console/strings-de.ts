import { html } from '../../kit/html.ts';
import type { ConsoleSignInStrings } from './strings-en.ts';

export const GERMAN_CONSOLE_SIGN_IN: ConsoleSignInStrings = {
  signInWhy: 'Das ist die Konsole derer, die diesen Dienst betreiben. Melden Sie sich an, um sie zu sehen.',
  devSignInHelp: 'Ein beliebiger Name. Er steht im Protokoll bei dem, was Sie tun.',
  noRole: {
    title: 'Sie haben hier keine Rolle',
    what: (person) => html`Sie sind als ${person} angemeldet. Dieses Konto darf die Konsole nicht benutzen.`,
    next: 'Wenn es das soll, bitten Sie die Verwaltung Ihrer Konten um eine Rolle.',
    another: 'Ein anderes Konto verwenden',
  },
};
