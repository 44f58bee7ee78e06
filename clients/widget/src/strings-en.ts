import type { AddressRefusal } from './address.ts';
import type { Field } from './fields.ts';
import { ageIn, countdownIn, durationIn, momentIn, numberIn, pluralIn, roughlyIn } from './strings-time.ts';
import type { Ending, Strings, Why } from './strings-type.ts';

const EN = 'en';
const number = (value: number) => numberIn(EN, value);
const count = (amount: number, one: string, other: string) =>
  `${number(amount)} ${pluralIn(EN, amount, one, other)}`;
const characters = (amount: number) => count(amount, 'character', 'characters');
const choices = (amount: number) => count(amount, 'choice', 'choices');

export const ENGLISH: Strings = {
  lang: EN,

  someAgent: 'the assistant',
  questionFrom: (agent) => `A question from ${agent}`,
  asks: (agent) => `Asked by ${agent}`,
  why,
  sensitive: 'Marked as sensitive: the answer is meant to be kept from the language model.',

  send: 'Send',
  sending: 'Sending …',
  decline: 'Decline',
  notNow: 'Not now',
  cancel: 'Cancel',
  openPage: 'Open page',
  connectAccount: 'Connect account',
  openAgain: 'Open again',
  checkNow: 'Check now',
  checking: 'Checking …',
  copyLink: 'Copy link',
  copied: 'Link copied',
  copyFailed: 'The link could not be copied. Select the address and copy it by hand.',
  tryAgain: 'Try again',
  newTab: 'opens in a new tab',

  addressLabel: 'Address of the page',
  opens: (host) => `This opens ${host}`,
  warningTitle: 'Look twice before you open this',
  warning: (warning) =>
    ({
      punycode:
        'The domain has letters that can look like other letters. Go on only if you know this address.',
      address: 'The page is at a numeric address instead of a name.',
      port: 'The address names an unusual port.',
      not_encrypted: 'The connection is not encrypted: others can read along.',
      user_info:
        'The address contains a user name that can be mistaken for the site. What counts is the highlighted part.',
    })[warning],
  addressRefused,
  lookFirst: 'Please check the address first.',
  nothingOpened: 'If nothing opens, copy the link and open it in your browser.',

  loading: 'Loading the question …',
  waitingThere: 'Waiting for you in the other window',
  waitingThereHint: 'This goes on by itself as soon as you are done there.',
  ended,
  gone: 'This question is not here any more.',
  offline: 'No connection. Your answer stays here; it goes on when the connection is back.',
  connection: (state) =>
    ({
      connecting: 'Connecting …',
      live: 'Up to date',
      polling: 'Checking every few seconds',
      offline: 'No connection; trying again',
    })[state],

  requiredMark: 'required',
  choose: 'Please choose',
  yes: 'Yes',
  no: 'No',
  hint,
  localTime: (timeZone) => `Your local time (${timeZone})`,
  fault: (fault) => {
    switch (fault.rule) {
      case 'required':
        return 'Please fill this in.';
      case 'comma':
        return 'Please write decimals with a point and leave out other separators, such as 1.5.';
      case 'number':
        return 'Please enter a number, such as 12 or 1.5.';
      case 'integer':
        return 'Please enter a whole number.';
      case 'safe':
        return 'This number is too large to be kept exactly.';
      // As it has to be typed, without the language's separators.
      case 'minimum':
        return `Please enter ${fault.limit} or more.`;
      case 'maximum':
        return `Please enter ${fault.limit} or less.`;
      case 'minLength':
        return `Please enter at least ${characters(fault.limit)}.`;
      case 'maxLength':
        return `Please enter at most ${characters(fault.limit)}.`;
      case 'minItems':
        return `Please pick at least ${choices(fault.limit)}.`;
      case 'maxItems':
        return `Please pick at most ${choices(fault.limit)}.`;
      case 'format':
        return {
          email: 'Please enter an email address, such as ada@example.com.',
          uri: 'Please enter a full address, such as https://example.com/.',
          date: 'Please enter a date that exists, such as 2026-03-01.',
          'date-time': 'Please enter a date and a time, such as 2026-03-01 09:30.',
        }[fault.format];
      case 'unicode':
      case 'nul':
        return 'This holds a character that cannot be sent. Please type it again.';
      default:
        return 'Please pick from the choices.';
    }
  },
  serverFault: (message) => `Not accepted: ${message}`,

  refusal: (code, retryAfterSeconds) => {
    switch (code) {
      case 'offline':
        return 'No connection. Nothing is lost; please try again.';
      case 'invalid_answer':
        return 'The answer was not accepted. Please look at it again.';
      case 'already_settled':
        return 'This was already settled somewhere else.';
      case 'expired':
        return 'The time to answer is up.';
      case 'not_found':
        return 'This question is not here any more.';
      case 'unauthenticated':
      case 'forbidden':
        return 'You are signed out, or this question is for someone else. Sign in again and try once more.';
      case 'too_large':
        return 'The answer is too long. Please shorten it.';
      case 'rate_limited':
        return `That was a lot in a short time. Please wait ${durationIn(EN, Math.max(1, retryAfterSeconds ?? 10) * 1_000)} and try again.`;
      default:
        return 'That did not work just now. Please try again in a moment.';
    }
  },

  countdown: (leftMs) => `${countdownIn(EN, leftMs)} left`,
  timeLeft: (leftMs) =>
    leftMs <= 0 ? 'The time to answer is up.' : `${roughlyIn(EN, leftMs)} left to answer.`,
  age: (ageMs) => (ageMs < 60_000 ? 'just now' : ageIn(EN, ageMs)),
  until: (deadline) => `until ${momentIn(EN, deadline)}`,

  inboxTitle: 'Waiting for you',
  waiting: (amount) => `${number(amount)} waiting`,
  waitingLong: (amount) => `${count(amount, 'question is', 'questions are')} waiting for you`,
  inboxEmpty: 'Nothing is waiting for you.',

  arrived: (agent) => `New question from ${agent}`,
};

function why({ trigger, tool }: Why): string | undefined {
  switch (trigger) {
    case 'credential_required':
      return tool === undefined
        ? 'It needs access to an account of yours.'
        : `It needs access to use ${tool}.`;
    case 'mcp_elicitation':
      return tool === undefined ? 'A connected server needs this to go on.' : `${tool} needs this to go on.`;
    case 'a2a_input_required':
      return tool === undefined
        ? 'Another agent needs this to go on.'
        : `The agent ${tool} needs this to go on.`;
    default:
      return tool === undefined ? undefined : `Needed for ${tool}.`;
  }
}

function addressRefused(reason: AddressRefusal): string {
  return {
    not_a_url: 'This is not the address of a page, so it cannot be opened.',
    not_web: 'This is not the address of a web page, so it is not opened.',
    too_long: 'This address is too long, so it is not opened.',
  }[reason];
}

function ended({ status, mode, here, reason }: Ending): string {
  switch (status) {
    case 'accepted':
      if (mode === 'url') return here ? 'Done.' : 'This was finished.';
      return here ? 'Your answer was sent.' : 'This was answered somewhere else.';
    case 'declined':
      return here ? 'You declined.' : 'This was declined somewhere else.';
    case 'cancelled':
      return here ? 'You set this aside without an answer.' : 'This was set aside somewhere else.';
    case 'expired':
      return 'The time to answer is up.';
    case 'withdrawn':
      if (reason === 'run_stopped') return 'The conversation was stopped, so this is not needed any more.';
      if (reason === 'superseded') return 'Another question took the place of this one.';
      return 'This is not needed any more.';
  }
}

function hint(field: Field): string | undefined {
  switch (field.kind) {
    case 'number':
    case 'integer':
      return range(field.minimum, field.maximum, String);
    case 'multi':
      return range(field.minItems || undefined, field.maxItems, choices);
    case 'email':
      return 'Such as ada@example.com';
    case 'uri':
      return 'Such as https://example.com/';
    case 'text':
      return range(field.minLength || undefined, field.maxLength, characters);
    default:
      return undefined;
  }
}

function range(least: number | undefined, most: number | undefined, say: (value: number) => string) {
  if (least !== undefined && least === most) return `Exactly ${say(least)}`;
  if (least !== undefined && most !== undefined) return `${least} to ${say(most)}`;
  if (least !== undefined) return `At least ${say(least)}`;
  return most === undefined ? undefined : `At most ${say(most)}`;
}
