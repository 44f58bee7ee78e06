import { type Html, html } from '../../kit/html.ts';
import type { Notice } from '../../kit/notice.ts';
import { durationIn } from '../answer/strings.ts';

/** The texts of the page with all that waits for a person, in one language. */
export const ENGLISH_INBOX = {
  /** On the sign-in page, in place of what it says about the link of a question. */
  signInWhy: 'This page shows what waits for you. Sign in to see it.',
  devSignInHelp: 'The user whose inbox you want to see.',
  title: 'Your inbox',
  waiting: 'Waiting for you',
  empty: 'Nothing waits for you.',
  /** How much waits, as it is said: `3`, or `300+`. */
  counted: (count: string) => (count === '1' ? 'One thing waits for you.' : `${count} things wait for you.`),
  /** There is more than the page shows. */
  older:
    'More waits for you than this page shows. You will see it here when you have answered some of these.',
  again: 'Look again',
  /** What an open page says of what has changed since it was loaded. */
  live: {
    /** Of an item that is not there any more, where it is not known how it ended. */
    ended: 'This no longer waits for you.',
    /** Of a call of a group that may be open, and that the page has no room for any more. */
    unseen: 'Too much waits for you to show this call, too. It is not checked any more.',
    /** Of a new call of a group. */
    begun: 'New, and not checked',
    /** For those who hear the page. */
    endedNews: 'Some of these calls have ended, and are not checked any more.',
    unseenNews: 'Some of these calls cannot be shown any more, and are not checked.',
    begunNews: 'There are new calls at the end of the list. They are not checked.',
    signedOut: 'You are not signed in any more. Load the page again to sign in.',
  },
  timeLeft: (leftMs: number) => `Time left: ${durationIn('en', leftMs)}`,
  answer: 'Answer',
  decide: 'Decide',
  /** The same with what it is about, for those who hear the page. */
  answerNamed: (title: string) => `Answer: ${title}`,
  decideNamed: (title: string) => `Decide: ${title}`,
  /** `count` says how many equal calls there are; absent for a single one. */
  groupTitle: (agent: Html, tool: Html, count?: Html) => html`${agent} wants to use “${tool}” ${count} times`,
  group: {
    decide: 'Decide together',
    decideNamed: (title: string) => `Decide together: ${title}`,
    lead: 'Your decision is for the calls that are checked below. Each of them is decided and logged by itself.',
    approve: 'Approve the checked calls',
    deny: 'Deny the checked calls',
    same: 'The same in every call',
    differing: 'What differs',
    call: (number: string) => `Call ${number}`,
    more: 'There are more calls of this kind. You will see them when you have decided on these.',
    noneChosen: 'Nothing was decided. Check at least one call.',
    /** How many of the chosen calls were decided, of how many. */
    partly: (recorded: number, chosen: number): Notice => ({
      title: 'Not all of these calls were decided here',
      what: `Your decision was recorded for ${recorded} of ${chosen} calls. The others had ended in another way, or could not be decided at the moment.`,
      next: 'Your inbox shows what still waits for you.',
    }),
  },
  remembered: 'Remembered approvals',
  rememberedLead:
    'Agents make calls of these tools without asking you, because you approved them in advance.',
  rememberedEmpty: 'There are none. Agents ask you each time.',
  inConversation: 'In one conversation',
  until: (day: string) => `Until ${day}`,
  forget: 'Forget',
  forgetNamed: (tool: string) => `Forget the approval of ${tool}`,
  accounts: 'Connected accounts',
  /** The link from other pages to the inbox. */
  back: 'Your inbox',
  /** Where nobody signs in on these pages. */
  elsewhere: {
    title: 'There is no inbox here',
    what: 'Nobody signs in on these pages, so it is not known whose inbox to show.',
    next: 'Look for what waits for you in the application with the chat.',
  },
};
export type InboxStrings = typeof ENGLISH_INBOX;
