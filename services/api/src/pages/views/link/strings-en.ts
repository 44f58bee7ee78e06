import { html } from '../../kit/html.ts';
import type { LinkStrings } from './strings.ts';

export const ENGLISH_LINK: LinkStrings = {
  signInWhy: 'This page connects an account of another service with yours. Sign in first.',
  title: (service) => html`Connect ${service}`,
  lead: (service) => html`Messages from this ${service} account will then be handled as yours.`,
  account: 'Account',
  person: 'Signed in as',
  warning: (service) =>
    html`Continue only if you asked for this link in ${service} yourself. ${service} confirms in the next step that the account is yours.`,
  proceed: (service) => html`Continue to ${service}`,
  signOut: 'Use another account here',
  linked: {
    title: (service) => html`${service} is connected`,
    what: (service) => html`The agents in ${service} now know who you are.`,
    next: 'You can close this window. Send your message again.',
  },
  other: {
    title: (service) => html`That is another ${service} account`,
    what: (service) =>
      html`This link was made for another ${service} account than the one that you are signed in to there. Nothing was connected.`,
    next: (service) =>
      html`If the link is yours, sign in to ${service} with the account that asked for it, and open the link again. If somebody sent it to you, ignore it.`,
  },
  spent: {
    title: 'This link no longer works',
    what: 'It was used, or it is too old.',
    next: 'Write to the app again to get a new one.',
  },
};
