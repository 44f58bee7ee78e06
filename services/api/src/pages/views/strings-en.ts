import { type Html, html } from '../kit/html.ts';
import { ENGLISH_ACCOUNTS } from './accounts/strings-en.ts';
import { ENGLISH_ANSWER } from './answer/strings-en.ts';
import { ENGLISH_APPROVAL_PAGE } from './approval/strings-en.ts';
import { ENGLISH_CONSOLE_SIGN_IN } from './console/strings-en.ts';
import { ENGLISH_INBOX } from './inbox/strings-en.ts';
import { ENGLISH_LINK } from './link/strings-en.ts';

/** Everything the pages say, in one language; whole sentences, so that every language can order its own. */
export const ENGLISH = {
  common: {
    /** Before the document's title when a form came back with a fault. */
    fault: 'Not accepted',
    close: 'You can close this window and return to the chat.',
    tryAgain: 'Try again',
    startAgain: 'To start over, open the link again where you found it.',
    forSupport: (id: Html) => html`If you ask for help, give this reference: ${id}`,
    providerSaid: (code: Html) => html`The service answered with this error: ${code}`,
  },
  signIn: {
    title: 'Sign in to continue',
    why: 'This link is for one person. Signing in confirms that you are this person. It does not connect anything yet.',
    where: (organisation: Html) => html`You will sign in with ${organisation} and then return to this page.`,
    button: 'Sign in',
  },
  devSignIn: {
    title: 'Who are you?',
    warning: 'This sign-in is for development only. It accepts any user id without a check.',
    label: 'User id',
    help: 'The user to whom the question in the chat is addressed.',
    button: 'Sign in',
  },
  asking: {
    /** The asker that names no agent, within a sentence and at its start. */
    unnamed: 'the service behind this chat',
    unnamedFirst: 'The service behind this chat',
    person: 'Signed in as',
    /** Who wrote the message below; the asker comes first. */
    words: (agent: Html) => html`${agent} wrote`,
    decline: 'Decline',
    afterDecline: (agent: Html) =>
      html`If you decline, nothing is connected or sent, and ${agent} is informed. You can also close this window and decide later, while the question in the chat is open.`,
    /** For strategies that learn only later who is there. */
    personLater: 'Your identity is checked afterwards. Nothing can be used before that check.',
  },
  consent: {
    title: (service: Html) => html`Connect ${service}`,
    /** Agent, service. */
    lead: (agent: Html, service: Html) => html`${agent} asks to use your ${service} account on your behalf.`,
    origin: 'You will be sent to',
    originLater: (service: Html) => html`The sign-in page of ${service}`,
    lookAlike:
      'This address contains letters that can look like other letters. Continue only if you know this address.',
    scopes: 'Requested permissions',
    scopesLater: 'The service will show you the requested permissions before you agree.',
    steps: (service: Html) =>
      html`There you sign in to ${service} and agree or refuse. Neither this page nor the chat receives your password. You then return to this page.`,
    proceed: 'Continue',
    proceedTo: (host: Html) => html`Continue to ${host}`,
  },
  secret: {
    title: (service: Html) => html`Connect ${service}`,
    lead: (agent: Html, service: Html) =>
      html`${agent} asks to use ${service} on your behalf and needs your key for it.`,
    kept: (agent: Html, service: Html) =>
      html`The key is stored encrypted. It is sent only to ${service}, when ${agent} acts there for you. Neither the chat nor the language model receives it.`,
    onceTitle: (label: Html) => html`Enter: ${label}`,
    /** Agent, label of the field. */
    onceLead: (agent: Html, label: Html) => html`${agent} asks you for a secret: ${label}.`,
    /** The tool that may use it, agent. */
    once: (tool: Html, agent: Html) =>
      html`It is sent to ${tool} once and then deleted. Neither the chat nor the language model of ${agent} receives it.`,
    faults: {
      empty: 'Nothing was entered. Please fill in the field.',
      rejected: 'This was not accepted. Please check that you copied all of it, and enter it again.',
      unavailable: 'This could not be checked now, so nothing was stored. Please enter it again in a moment.',
    },
    proceed: 'Connect',
    onceProceed: 'Send',
  },
  answer: ENGLISH_ANSWER,
  approval: ENGLISH_APPROVAL_PAGE,
  accounts: ENGLISH_ACCOUNTS,
  inbox: ENGLISH_INBOX,
  console: ENGLISH_CONSOLE_SIGN_IN,
  link: ENGLISH_LINK,
  continue: {
    title: (host: Html) => html`Continue to ${host}`,
    lead: 'You are being sent to',
    link: (host: Html) => html`Open ${host}`,
  },
  waiting: {
    title: 'Waiting for the service to confirm',
    lead: 'This page checks automatically every few seconds.',
    look: 'Check now',
    close:
      'You can also close this window. The chat continues automatically as soon as the service has confirmed.',
  },
  done: {
    title: (service: Html) => html`${service} is connected`,
    titlePlain: 'Done',
    lead: 'The chat continues automatically.',
    kept: (service: Html) =>
      html`The question in the chat had ended before, so the chat does not continue automatically. ${service} is connected now and will be used the next time.`,
    keptPlain:
      'The question in the chat had ended before, so the chat does not continue automatically. Your entry will be used the next time.',
    withheld: 'You did not grant these permissions:',
    withheldNext: 'Some functions may not work without them. You will be asked again when they are needed.',
  },
  declined: {
    title: 'You declined',
    what: 'Nothing was connected or sent. The agent or service that asked has been informed.',
    next: 'You can close this window and return to the chat.',
  },
  expired: {
    title: 'This link has expired',
    what: 'The time to answer the question in the chat is over. Nothing was connected.',
    next: 'Return to the chat and ask again. You will receive a new link there.',
  },
  settled: {
    title: 'This question has ended',
    what: 'It has already been answered or withdrawn. You do not need to do anything here.',
    next: 'You can close this window and return to the chat.',
  },
  mismatch: {
    title: 'This link is for another person',
    what: 'You are not signed in as the person whom this link is for. Nothing was connected.',
    next: 'If you received this link by mistake, close this window. Never connect an account for a person who sent you a link.',
    signOut: 'Sign in as another person',
    noSignOut: 'If it is your own link, sign out at your organisation and open the link in the chat again.',
  },
  notFound: {
    title: 'This link does not work',
    what: 'It may be incomplete or too old.',
    next: 'Open the link again where you found it.',
  },
  failed: {
    consent_refused: {
      title: 'You did not agree',
      what: 'The service reports that you did not agree there. Nothing was connected, and the question is still open.',
      next: 'You can try again, or return to the chat and decline there.',
    },
    provider_error: {
      title: 'The service reported an error',
      what: 'Nothing was connected. The question in the chat is still open.',
      next: 'Please try again. If it fails again, inform the operators of this chat.',
    },
    bad_state: {
      title: 'This answer belongs to another attempt',
      what: 'You may have opened the page twice or used the back button. Nothing was connected.',
      next: 'Please try again from the start, in one window.',
    },
    bad_issuer: {
      title: 'The answer came from the wrong service',
      what: 'It names a different sign-in service from the one to which you were sent. For your safety, nothing was connected.',
      next: 'Please try again. If it happens again, inform the operators of this chat.',
    },
    rejected_key: {
      title: 'The key was not accepted',
      what: 'The service does not recognize this key. Nothing was stored.',
      next: 'Please check the key and try again.',
    },
    unavailable: {
      title: 'The service cannot be reached',
      what: 'It did not answer in time. Nothing was connected, and the question is still open.',
      next: 'Please try again in a few minutes.',
    },
    'sign-in': {
      title: 'You could not be signed in',
      what: 'The sign-in at your organisation ended without a valid answer. Nothing was changed.',
      next: 'Please try again. If it fails again, inform the operators of this chat.',
    },
  },
  refused: {
    title: 'Please repeat your choice',
    what: 'This page could not confirm that the click came from you. It may have been open for too long, or your browser blocks cookies. Nothing was changed.',
    next: 'Open the page again and repeat your choice there.',
  },
  tooMany: {
    title: 'Too many attempts',
    what: 'There were too many attempts in a short time. Nothing was changed.',
    waitSeconds: (seconds: number) =>
      `Please wait ${seconds === 1 ? 'one second' : `${seconds} seconds`}, then go back and try again.`,
    waitMinutes: (minutes: number) =>
      `Please wait ${minutes === 1 ? 'one minute' : `${minutes} minutes`}, then go back and try again.`,
  },
  unavailable: {
    title: 'This does not work at the moment',
    what: 'The fault is ours. What waits for you is not affected.',
    next: 'Please wait a moment, then go back and try again.',
  },
};
export type PageStrings = typeof ENGLISH;
