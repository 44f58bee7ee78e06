import { type Html, html } from '../../kit/html.ts';

/** What the pages say on which an account of another service is linked to a person. */
export const ENGLISH_LINK = {
  /** On the sign-in page. */
  signInWhy: 'This page connects an account of another service with yours. Sign in first.',
  title: (service: Html) => html`Connect ${service}`,
  lead: (service: Html) => html`Messages from this ${service} account will then be handled as yours.`,
  account: 'Account',
  person: 'Signed in as',
  warning: (service: Html) =>
    html`Continue only if you asked for this link in ${service} yourself. ${service} confirms in the next step that the account is yours.`,
  proceed: (service: Html) => html`Continue to ${service}`,
  signOut: 'Use another account here',
  linked: {
    title: (service: Html) => html`${service} is connected`,
    what: (service: Html) => html`The agents in ${service} now know who you are.`,
    next: 'You can close this window. Send your message again.',
  },
  /** The browser is signed in to another account of the service. */
  other: {
    title: (service: Html) => html`That is another ${service} account`,
    what: (service: Html) =>
      html`This link was made for another ${service} account than the one that you are signed in to there. Nothing was connected.`,
    next: (service: Html) =>
      html`If the link is yours, sign in to ${service} with the account that asked for it, and open the link again. If somebody sent it to you, ignore it.`,
  },
  spent: {
    title: 'This link no longer works',
    what: 'It was used, or it is too old.',
    next: 'Write to the app again to get a new one.',
  },
};
export type LinkStrings = typeof ENGLISH_LINK;
