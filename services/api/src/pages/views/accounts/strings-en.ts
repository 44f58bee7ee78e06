import { html } from '../../kit/html.ts';
import { type AccountStrings, dayIn } from './strings.ts';

export const ENGLISH_ACCOUNTS: AccountStrings = {
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
  managed: 'Connected through your company sign-in',
  savedAt: 'Connected or renewed on',
  day: (ms) => dayIn('en', ms),
  scopes: 'Permissions',
  renewal: 'Renewal',
  renews: 'Renewed automatically',
  endsByItself: 'Not renewed. The access ends when the service says so.',
  disconnect: 'Disconnect',
  disconnectNamed: (service) => `Disconnect ${service}`,
  signOut: 'Sign out',
  confirm: {
    title: (service) => html`Disconnect ${service}?`,
    what: (service) =>
      html`Agents can then no longer use your ${service} account. Your access to ${service} itself does not change.`,
    next: 'When an agent needs the account again, it asks you to connect it.',
    proceed: 'Disconnect',
    back: 'Keep it connected',
  },
  disconnected: {
    title: (service) => html`${service} is disconnected`,
    as: {
      revoked: (service) =>
        html`Your access was deleted here, and ${service} has confirmed that it is no longer valid.`,
      unsupported: (service) =>
        html`Your access was deleted here. ${service} offers no way to end it from here. You can end it in the settings of your account there.`,
      unavailable: (service) =>
        html`Your access was deleted here. ${service} could not be reached, so it may still be valid there. You can end it in the settings of your account there.`,
      before: (service) => html`No access to ${service} is stored here.`,
    },
    next: 'When an agent needs the account again, it asks you to connect it.',
    back: 'All connected accounts',
  },
  elsewhere: {
    title: 'Accounts are not shown here',
    what: 'Nobody signs in on these pages, so it is not known whose accounts to show.',
    next: 'Look for your connected accounts in the application with the chat.',
  },
  link: 'See and disconnect your connected accounts',
};
