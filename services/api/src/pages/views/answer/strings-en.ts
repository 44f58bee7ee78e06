/** The English texts of the answer page. Markup around them is in `templates.ts`. */

import type { FormControl } from '@parley/core/domain/forms/controls';
import { countOf, hintOf } from '@parley/core/domain/forms/hint';
import { type Html, html } from '../../kit/html.ts';
import { type ControlFault, durationIn } from './strings.ts';

const FORMATS = {
  email: 'Enter an email address, such as ada@example.com.',
  uri: 'Enter a full address, such as https://example.com/.',
  date: 'Enter a date that exists, such as 2026-03-01.',
  'date-time': 'Enter a date, a time and its offset from UTC, such as 2026-03-01T09:30:00+01:00.',
};

/** The texts of the answer page, in one language. */
export const ENGLISH_ANSWER = {
  entry: {
    title: 'A question for you',
    lead: 'A person or a program that you use sent you this link, to ask you a question. Open it only if you expect it. It can be opened in one browser only.',
    button: 'Show the question',
    /** For browsers without scripts. */
    label: 'Your link',
    help: 'Copy the whole link into this field.',
    /** The label of the link for the owner, who signs in instead. */
    signIn: 'Sign in to answer',
  },
  /** Why the owner signs in. */
  signInWhy:
    'A question is waiting for one person. Signing in confirms that you are this person. It does not answer anything yet.',
  /** Another person is signed in. */
  mismatch: {
    title: 'This question is for another person',
    what: 'You are not signed in as the person whom this question is for. Nothing was answered.',
    next: 'If you received this link by mistake, close this window.',
  },
  title: 'A question for you',
  timeLeft: (leftMs: number) => `Time left to answer: ${durationIn('en', leftMs)}.`,
  opens: 'You will be sent to',
  requiredMark: 'required',
  choose: 'Please choose',
  noAnswer: 'No answer',
  yes: 'Yes',
  no: 'No',
  hint,
  fault,
  faults: 'Your answer was not sent. Please correct the marked fields.',
  send: 'Send answer',
  proceedTo: (host: Html) => html`Continue to ${host}`,
  ended: {
    answered: {
      title: 'Your answer was recorded',
      what: 'The agent or service that asked has it now.',
      next: 'You can close this window.',
    },
    declined: {
      title: 'You declined',
      what: 'Nothing was answered. The agent or service that asked has been told so.',
      next: 'You can close this window.',
    },
    expired: {
      title: 'The time to answer is over',
      what: 'Nobody answered in time. The agent or service that asked has been told so.',
      next: 'If it still matters, ask where the question came from to be asked again.',
    },
    settled: {
      title: 'This question has ended',
      what: 'It was answered in another place, or it was taken back. You do not need to do anything here.',
      next: 'You can close this window.',
    },
  },
  /** Before what is said of a question that had ended before it was answered here. */
  late: 'Your answer came too late and was not recorded.',
  spent: {
    title: 'This link cannot be opened',
    what: 'It is too old, was revoked, or was opened in another browser. Nothing was answered here.',
    next: 'If you still want to answer, ask for a new link where you got this one.',
  },
};
export type AnswerStrings = typeof ENGLISH_ANSWER;

function hint(control: FormControl): string | undefined {
  if (control.kind === 'date-time')
    return 'Date, time and offset from UTC, such as 2026-03-01T09:30:00+01:00';
  return hintOf(control);
}

function fault(given: ControlFault): string {
  switch (given.rule) {
    case 'required':
      return 'This field is required.';
    case 'number':
      return 'Enter a number without thousands separators, such as 1.5.';
    case 'integer':
      return 'Enter a whole number.';
    case 'safe':
      return 'Enter a number with fewer digits.';
    case 'minimum':
      return `Enter ${given.limit} or more.`;
    case 'maximum':
      return `Enter ${given.limit} or less.`;
    case 'minLength':
      return `Enter at least ${countOf(given.limit, 'character')}.`;
    case 'maxLength':
      return `Enter at most ${countOf(given.limit, 'character')}.`;
    case 'minItems':
      return `Choose at least ${given.limit}.`;
    case 'maxItems':
      return `Choose at most ${given.limit}.`;
    case 'pattern':
      return 'This does not have the required form. Check the description of the field.';
    case 'format':
      return FORMATS[given.format];
    case 'unicode':
    case 'nul':
      return 'The text contains a character that cannot be sent.';
    default:
      return 'Choose from the list.';
  }
}
