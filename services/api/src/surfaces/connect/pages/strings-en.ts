import { ENGLISH_ANSWER } from './answer/strings-en.ts';
import { html } from './html.ts';
import type { PageStrings } from './strings.ts';

export const ENGLISH: PageStrings = {
  common: {
    fault: 'Not accepted',
    close: 'You can close this window and go back to the chat.',
    tryAgain: 'Try again',
    startAgain: 'To start over, go back to the chat and open the link there again.',
    forSupport: (id) => html`If you ask for help, mention this number: ${id}`,
    providerSaid: (code) => html`The service answered with this error: ${code}`,
  },
  signIn: {
    title: 'Sign in to go on',
    why: 'This link was made for one person. Signing in shows that it is you; nothing is connected by it yet.',
    where: (organisation) => html`You will sign in with ${organisation}, and come back here afterwards.`,
    button: 'Sign in',
  },
  devSignIn: {
    title: 'Who are you?',
    warning: 'This sign-in is for development only. It believes whatever you type.',
    label: 'User id',
    help: 'The user that the question in the chat was for.',
    button: 'Sign in',
  },
  asking: {
    unnamed: 'the service behind this chat',
    unnamedFirst: 'The service behind this chat',
    person: 'Signed in as',
    words: (agent) => html`${agent} wrote`,
    decline: 'Decline',
    afterDecline: (agent) =>
      html`If you decline, nothing happens and ${agent} is told so. You can also close this window and decide later, as long as the question in the chat is open.`,
    personLater: 'Afterwards it is checked that it was you. Nothing can be used before that.',
  },
  consent: {
    title: (service) => html`Connect ${service}`,
    lead: (agent, service) => html`${agent} asks to use your ${service} account on your behalf.`,
    origin: 'You will be sent to',
    originLater: (service) => html`The sign-in page of ${service}`,
    lookAlike:
      'This address contains letters that can look like other letters. Go on only if you know this address.',
    scopes: 'Permissions asked for',
    scopesLater: 'The service will show you what is asked for before you agree.',
    steps: (service) =>
      html`There you sign in to ${service} and say whether you agree. Your password stays there: neither this page nor the chat gets to see it. Afterwards you come back here.`,
    proceed: 'Continue',
    proceedTo: (host) => html`Continue to ${host}`,
  },
  secret: {
    title: (service) => html`Connect ${service}`,
    lead: (agent, service) =>
      html`${agent} asks to use ${service} on your behalf, and needs a key of yours for it.`,
    kept: (agent, service) =>
      html`The key is kept encrypted and is sent to ${service} only, when ${agent} works there for you. Neither the chat nor the language model gets to see it.`,
    onceTitle: (label) => html`Enter: ${label}`,
    onceLead: (agent, label) => html`${agent} asks you for a secret: ${label}.`,
    once: (tool, agent) =>
      html`It is handed to ${tool} once and deleted then. Neither the chat nor the language model behind ${agent} gets to see it.`,
    faults: {
      empty: 'Nothing was entered. Please fill in the field.',
      rejected: 'This was not accepted. Please check that you copied all of it, and enter it again.',
      unavailable:
        'This could not be checked just now, so nothing was kept. Please enter it again in a moment.',
    },
    proceed: 'Connect',
    onceProceed: 'Hand over',
  },
  answer: ENGLISH_ANSWER,
  continue: {
    title: (host) => html`On the way to ${host}`,
    lead: 'You are being sent to',
    link: (host) => html`Go to ${host}`,
  },
  waiting: {
    title: 'Waiting for the service to confirm',
    lead: 'This page looks again by itself every few seconds.',
    look: 'Look now',
    close: 'You can also close this window. The chat goes on by itself as soon as the service has confirmed.',
  },
  done: {
    title: (service) => html`${service} is connected`,
    titlePlain: 'Done',
    lead: 'The chat goes on by itself.',
    kept: (service) =>
      html`The question in the chat had ended by then, so nothing goes on by itself. But ${service} is connected now and will be used the next time.`,
    keptPlain:
      'The question in the chat had ended by then, so nothing goes on by itself. What you entered will be used the next time.',
    withheld: 'You did not grant these permissions:',
    withheldNext: 'Some things may not work without them. You will be asked again when they are needed.',
  },
  declined: {
    title: 'You declined',
    what: 'Nothing was connected or handed over. The agent or service that asked has been notified.',
    next: 'You can close this window and go back to the chat.',
  },
  expired: {
    title: 'This link has expired',
    what: 'The question in the chat ran out of time. Nothing was connected.',
    next: 'Go back to the chat and ask again; you will get a new link there.',
  },
  settled: {
    title: 'This question has ended',
    what: 'It was answered before or taken back, so there is nothing left to do here.',
    next: 'You can close this window and go back to the chat.',
  },
  mismatch: {
    title: 'This link is for somebody else',
    what: 'You are signed in as another person than the one this link was made for. Nothing was connected.',
    next: 'If the link came to you by mistake, simply close this window. Never connect an account for somebody who sent you a link.',
    signOut: 'Sign in as somebody else',
    noSignOut: 'If it is your own link, sign out at your organisation and open it in the chat again.',
  },
  notFound: {
    title: 'This link does not work',
    what: 'It may be incomplete, or too old.',
    next: 'Go back to the chat and open the link there.',
  },
  failed: {
    consent_refused: {
      title: 'You did not agree',
      what: 'The service reports that you did not agree there. Nothing was connected, and the question is still open.',
      next: 'You can try again, or go back to the chat and decline there.',
    },
    provider_error: {
      title: 'The service reported an error',
      what: 'Nothing was connected. The question in the chat is still open.',
      next: 'Please try again. If it fails once more, tell the people who run this chat.',
    },
    bad_state: {
      title: 'This answer belongs to another attempt',
      what: 'Perhaps you opened the page twice, or went back in between. Nothing was connected.',
      next: 'Please try again, in one window, from the start.',
    },
    bad_issuer: {
      title: 'The answer came from the wrong place',
      what: 'It names another sign-in service than the one you were sent to. To be safe, nothing was connected.',
      next: 'Please try again. If it happens once more, tell the people who run this chat.',
    },
    rejected_key: {
      title: 'The key was not accepted',
      what: 'The service does not know this key. Nothing was kept.',
      next: 'Please check the key and try again.',
    },
    unavailable: {
      title: 'The service cannot be reached',
      what: 'It did not answer in time. Nothing was connected, and the question is still open.',
      next: 'Please try again in a few minutes.',
    },
    'sign-in': {
      title: 'You could not be signed in',
      what: 'The sign-in at your organisation ended without a valid answer. Nothing was connected.',
      next: 'Please try again. If it fails once more, tell the people who run this chat.',
    },
  },
  refused: {
    title: 'Please do that once more',
    what: 'This page could not tell that the click came from you; perhaps it was open for too long, or cookies are blocked. Nothing was connected.',
    next: 'Open the page anew and repeat your choice there.',
  },
  tooMany: {
    title: 'Too many attempts',
    what: 'This was tried very often in a short time. Nothing was connected.',
    waitSeconds: (seconds) =>
      `Please wait ${seconds === 1 ? 'one second' : `${seconds} seconds`}, then go back and try again.`,
    waitMinutes: (minutes) =>
      `Please wait ${minutes === 1 ? 'one minute' : `${minutes} minutes`}, then go back and try again.`,
  },
  unavailable: {
    title: 'This does not work right now',
    what: 'The fault is on our side. The question in the chat is not affected by it.',
    next: 'Please wait a moment, then go back and try again.',
  },
};
