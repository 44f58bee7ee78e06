/**
 * The English texts of the question card, which are always loaded. Their type is in `type.ts`; other languages have their own
 * files.
 */

import { countOf, hintOf } from '@parley/core/domain/forms/hint';
import type { AddressRefusal } from '../address.ts';
import { countdownIn, durationIn, roughlyIn } from './time.ts';
import type { SettledQuestion, Strings, Why } from './type.ts';

const EN = 'en';
const characters = (amount: number) => countOf(amount, 'character');
const choices = (amount: number) => countOf(amount, 'choice');

/** The English texts of the card. A loaded language or the page may replace them. */
export const ENGLISH: Strings = {
  lang: EN,

  someAgent: 'the service behind this chat',
  questionFrom: (agent) => `A question from ${agent}`,
  asks: (agent) => `Asked by ${agent}`,
  why,
  risk: (risk) => `Risk: ${risk}`,
  sensitive: 'Sensitive: meant to be kept from the language model.',

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
  copyFailed: 'Not copied. The address is selected.',
  tryAgain: 'Try again',
  newTab: 'opens in a new tab',

  opens: (host) => `This opens ${host}`,
  warningTitle: 'Check this address before you open it',
  warning: (warning) =>
    ({
      punycode: 'Its name has letters that can look like others.',
      address: 'It has a number instead of a name.',
      port: 'It has an unusual port.',
      not_encrypted: 'It is not encrypted: others can read it.',
      user_info: 'It has a user name that can look like the site.',
    })[warning],
  addressRefused,
  lookFirst: 'Please check the address first.',
  nothingOpened: 'If nothing opens, copy the link.',

  loading: 'Loading …',
  waitingThere: 'Please continue in the other window',
  waitingThereHint: 'This card updates when you finish there.',
  ended,
  gone: 'This question no longer exists.',
  offline: 'No connection. Your answer stays on this page.',

  requiredMark: 'required',
  choose: 'Please choose',
  noAnswer: 'No answer',
  yes: 'Yes',
  no: 'No',
  hint: hintOf,
  localTime: (timeZone) => `Your local time (${timeZone})`,
  room: (left) => `${characters(Math.abs(left))} ${left < 0 ? 'too many' : 'left'}`,
  fault: (fault) => {
    switch (fault.rule) {
      case 'required':
        return 'Please fill this in.';
      case 'comma':
        return 'Please enter a number with a point only, such as 1.5.';
      case 'number':
        return 'Please enter a number, such as 1.5.';
      case 'integer':
        return 'Please enter a whole number.';
      case 'safe':
        return 'Please enter a number with fewer digits.';
      // Numbers are written as a number field accepts them, without thousands separators.
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
        return 'It has a character that cannot be sent.';
      default:
        return 'Please pick from the choices.';
    }
  },
  serverFault: (message) => `Not accepted: ${message}`,

  refusal: (code, retryAfterSeconds) => {
    switch (code) {
      case 'invalid_answer':
        return 'Not accepted. Please check your answer.';
      case 'unauthenticated':
      case 'forbidden':
        return 'You are signed out, or this question is for someone else.';
      case 'too_large':
        return 'Your answer is too long.';
      case 'rate_limited':
        return `Please wait ${durationIn(EN, (retryAfterSeconds ?? 10) * 1_000)} and try again.`;
      default:
        return 'That did not work. Please try again.';
    }
  },

  countdown: (leftMs) => `${countdownIn(EN, leftMs)} left`,
  timeLeft: (leftMs) => `${roughlyIn(EN, leftMs)} left to answer.`,

  arrived: (agent) => `New question from ${agent}`,
};

function why({ trigger, tool }: Why): string | undefined {
  switch (trigger) {
    case 'credential_required':
      return `It needs access to ${tool ?? 'an account of yours'}.`;
    case 'mcp_elicitation':
    case 'a2a_input_required':
      return `${tool ?? 'Another program'} needs this to continue.`;
    default:
      return tool && `Needed for ${tool}.`;
  }
}

function addressRefused(reason: AddressRefusal): string {
  return reason === 'too_long'
    ? 'This is too long to be opened.'
    : 'This is not the address of a web page, so it is not opened.';
}

function ended({ status, mode, here, reason }: SettledQuestion): string {
  switch (status) {
    case 'accepted':
      if (mode === 'url') return 'Done.';
      return here ? 'Your answer was sent.' : 'This was answered somewhere else.';
    case 'declined':
      return here ? 'You declined.' : 'This was declined somewhere else.';
    case 'cancelled':
      return here ? 'You dismissed this.' : 'This was dismissed somewhere else.';
    case 'expired':
      return 'The time to answer is over.';
    case 'withdrawn':
      if (reason === 'run_stopped') return 'The conversation was stopped.';
      if (reason === 'superseded') return 'Another question replaced this one.';
      return 'This is not needed any more.';
  }
}
