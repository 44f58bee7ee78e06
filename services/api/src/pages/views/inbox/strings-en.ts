import { html } from '../../kit/html.ts';
import { durationIn } from '../answer/strings.ts';
import type { InboxStrings } from './strings.ts';

export const ENGLISH_INBOX: InboxStrings = {
  signInWhy: 'This page shows what waits for you. Sign in to see it.',
  devSignInHelp: 'The user whose inbox you want to see.',
  title: 'Your inbox',
  waiting: 'Waiting for you',
  empty: 'Nothing waits for you.',
  counted: (count) => (count === '1' ? 'One thing waits for you.' : `${count} things wait for you.`),
  older:
    'More waits for you than this page shows. You will see it here when you have answered some of these.',
  again: 'Look again',
  live: {
    ended: 'This no longer waits for you.',
    unseen: 'Too much waits for you to show this call, too. It is not checked any more.',
    begun: 'New, and not checked',
    endedNews: 'Some of these calls have ended, and are not checked any more.',
    unseenNews: 'Some of these calls cannot be shown any more, and are not checked.',
    begunNews: 'There are new calls at the end of the list. They are not checked.',
    signedOut: 'You are not signed in any more. Load the page again to sign in.',
  },
  timeLeft: (leftMs) => `Time left: ${durationIn('en', leftMs)}`,
  answer: 'Answer',
  decide: 'Decide',
  answerNamed: (title) => `Answer: ${title}`,
  decideNamed: (title) => `Decide: ${title}`,
  groupTitle: (agent, tool, count) => html`${agent} wants to use “${tool}” ${count} times`,
  group: {
    decide: 'Decide together',
    decideNamed: (title) => `Decide together: ${title}`,
    lead: 'Your decision is for the calls that are checked below. Each of them is decided and logged by itself.',
    approve: 'Approve the checked calls',
    deny: 'Deny the checked calls',
    same: 'The same in every call',
    differing: 'What differs',
    call: (number) => `Call ${number}`,
    more: 'There are more calls of this kind. You will see them when you have decided on these.',
    noneChosen: 'Nothing was decided. Check at least one call.',
    partly: (recorded, chosen) => ({
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
  until: (day) => `Until ${day}`,
  forget: 'Forget',
  forgetNamed: (tool) => `Forget the approval of ${tool}`,
  accounts: 'Connected accounts',
  back: 'Your inbox',
  elsewhere: {
    title: 'There is no inbox here',
    what: 'Nobody signs in on these pages, so it is not known whose inbox to show.',
    next: 'Look for what waits for you in the application with the chat.',
  },
};
