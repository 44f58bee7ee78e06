import type { RememberFor } from '@parley/core/domain/approvals/approval';
import { type Html, html } from '../../kit/html.ts';
import { durationIn } from '../answer/strings.ts';

const DAY_MS = 86_400_000;
const next = 'You can close this window.';

/** The texts of the page on which a person decides on a call, in one language. */
export const ENGLISH_APPROVAL_PAGE = {
  /** Why the person signs in. */
  signInWhy:
    'A call of a tool is waiting for the approval of one person. Signing in confirms that you are this person. It does not decide anything yet.',
  /** Of the page that opens a link, where it differs from that of a question. */
  entry: {
    title: 'A call waits for your approval',
    lead: 'A person or a program that you use sent you this link, so that you decide on a call of a tool. Open it only if you expect it. It can be opened in one browser only.',
    button: 'Show the call',
    signIn: 'Sign in to decide',
  },
  /** Agent, tool. */
  title: (agent: Html, tool: Html) => html`${agent} wants to use “${tool}”`,
  tool: 'Tool',
  risk: 'Risk',
  risks: { low: 'Low', medium: 'Medium', high: 'High' },
  traits: {
    reads: 'Says that it only reads',
    changes: 'Can change or delete things',
    keeps: 'Says that it deletes nothing',
    reaches: 'Can reach other services',
    unknown: 'Does not say what it can do',
  },
  arguments: 'What will be sent',
  noArguments: 'The call has no arguments.',
  secret: 'secret, not shown',
  empty: 'empty text',
  rememberFor: (time: RememberFor) =>
    time === 'conversation'
      ? 'Do not ask again in this conversation'
      : `Do not ask again for ${durationIn('en', time.days * DAY_MS)}`,
  rememberHelp: 'Goes with an approval: for this tool, this agent and the same rule, with any arguments.',
  reason: 'Reason, if you deny it (optional)',
  reasonHelp: 'The agent reads it.',
  reasonFault: 'Nothing was decided. The reason is too long, or has a character that cannot be sent.',
  approve: 'Approve',
  deny: 'Deny',
  timeLeft: (leftMs: number) =>
    `Time left to decide: ${durationIn('en', leftMs)}. After that, the call is not made.`,
  editElsewhere:
    'To approve it with other arguments, decide in the chat, or in the inbox of your application.',
  ended: {
    approved: { title: 'The call was approved', what: 'The agent may make it now.', next },
    edited: {
      title: 'The call was approved with changes',
      what: 'The agent may make it with the arguments that were changed.',
      next,
    },
    denied: { title: 'The call was denied', what: 'It is not made, and the agent is told so.', next },
    expired: {
      title: 'The time to decide is over',
      what: 'Nobody decided in time, so the call is not made.',
      next,
    },
    withdrawn: {
      title: 'This call is not needed any more',
      what: 'It was taken back, for example because the conversation was stopped. It is not made.',
      next,
    },
  },
  late: 'Your decision came too late and was not recorded.',
};
export type ApprovalPageStrings = typeof ENGLISH_APPROVAL_PAGE;
