import { type Html, html } from '../../kit/html.ts';
import { dayIn } from './strings.ts';

/** What the accounts pages say. */
export const ENGLISH_ACCOUNTS = {
  /** On the sign-in page, in place of what it says about the link of a question. */
  signInWhy: 'This page shows the accounts that you have connected. Sign in to see yours.',
  devSignInHelp: 'The user whose accounts you want to see.',
  title: 'Your connected accounts',
  lead: 'Agents may use these accounts on your behalf.',
  empty: 'You have not connected any account. When an agent needs one, it asks you in the chat.',
  person: 'Signed in as',
  state: 'State',
  states: {
    connected: 'Connected',
    reconnect_required:
      'No longer accepted by the service. You will be asked to connect it again when it is needed.',
  },
  /** The state of an account that the company sign-in connected. */
  managed: 'Connected through your company sign-in',
  savedAt: 'Connected or renewed on',
  /** The day of a time in ms. */
  day: (ms: number) => dayIn('en', ms),
  scopes: 'Permissions',
  renewal: 'Renewal',
  renews: 'Renewed automatically',
  endsByItself: 'Not renewed. The access ends when the service says so.',
  disconnect: 'Disconnect',
  /** The same with the name of the service, for those who hear the page. */
  disconnectNamed: (service: string) => `Disconnect ${service}`,
  signOut: 'Sign out',
  confirm: {
    title: (service: Html) => html`Disconnect ${service}?`,
    what: (service: Html) =>
      html`Agents can then no longer use your ${service} account. Your access to ${service} itself does not change.`,
    next: 'When an agent needs the account again, it asks you to connect it.',
    proceed: 'Disconnect',
    back: 'Keep it connected',
  },
  disconnected: {
    title: (service: Html) => html`${service} is disconnected`,
    as: {
      revoked: (service: Html) =>
        html`Your access was deleted here, and ${service} has confirmed that it is no longer valid.`,
      unsupported: (service: Html) =>
        html`Your access was deleted here. ${service} offers no way to end it from here. You can end it in the settings of your account there.`,
      unavailable: (service: Html) =>
        html`Your access was deleted here. ${service} could not be reached, so it may still be valid there. You can end it in the settings of your account there.`,
      before: (service: Html) => html`No access to ${service} is stored here.`,
    },
    next: 'When an agent needs the account again, it asks you to connect it.',
    back: 'All connected accounts',
  },
  /** Where nobody signs in on these pages. */
  elsewhere: {
    title: 'Accounts are not shown here',
    what: 'Nobody signs in on these pages, so it is not known whose accounts to show.',
    next: 'Look for your connected accounts in the application with the chat.',
  },
  /** The link from the page of a connected account to this one. */
  link: 'See and disconnect your connected accounts',
};
export type AccountStrings = typeof ENGLISH_ACCOUNTS;
