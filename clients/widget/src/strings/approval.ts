/**
 * The texts of approvals, their types and the English ones. German texts are in `de-approval.ts`; the texts of questions are in
 * `type.ts` and `en.ts`.
 */

import type { RememberFor, ToolHints } from '@parley/core/domain/approvals/approval';
import type { EndedApprovalStatus } from '@parley/core/domain/approvals/status';
import { type ToolTrait, traitsOf } from '@parley/core/domain/approvals/tool-trait';
import { durationIn, momentIn, numberIn, pluralIn } from './time.ts';

/** How an approval ended, as input for the sentence about it. */
export interface SettledApproval {
  readonly status: EndedApprovalStatus;
  /** True when this card decided. */
  readonly here: boolean;
  /** Why the approval was withdrawn. */
  readonly reason?: string | undefined;
}

/** For how long, or for what, a remembered approval applies. */
export interface RememberedScope {
  readonly isConversation: boolean;
  readonly expiresAt: Date;
}

/** The texts that only approvals need. All are plain text, and a page may override each. */
export interface ApprovalStrings {
  // What is asked
  readonly approvalTitle: (agent: string, tool: string) => string;
  /** The title of a card with several calls. */
  readonly approvalsTitle: (agent: string, count: number) => string;
  readonly approvalArrived: (agent: string) => string;
  /** The tool's server and its name for the model. */
  readonly toolOf: (server: string) => string;
  /** The abilities of the tool, one sentence each. Undefined hints are unknown. */
  readonly toolHints: (hints: ToolHints | undefined) => readonly string[];
  readonly argumentsTitle: string;
  readonly noArguments: string;
  readonly secretValue: string;
  readonly emptyText: string;
  readonly entries: (count: number) => string;
  readonly moreEntries: (count: number) => string;

  // Buttons and fields
  readonly approve: string;
  readonly approveAll: (count: number) => string;
  readonly editCall: string;
  readonly approveEdited: string;
  readonly deny: string;
  readonly denyAll: (count: number) => string;
  readonly back: string;
  readonly denyReason: string;
  readonly rememberFor: (time: RememberFor) => string;
  readonly rememberHint: string;
  /** Shown above the form: names of arguments that cannot be edited. */
  readonly notEditable: (names: string) => string;
  readonly badJson: string;
  /** Announced when a button is pressed before it has been in view for a second. */
  readonly checkCallFirst: string;

  // States
  readonly approvalEnded: (ending: SettledApproval) => string;
  readonly approvalGone: string;
  readonly approvalOffline: string;
  readonly approvalRefusal: (code: string, retryAfterSeconds?: number) => string;
  readonly editedTitle: string;
  readonly deniedBecause: (reason: string) => string;
  /** Says that the decision applies to further calls. */
  readonly isRemembered: string;

  // The list of remembered approvals
  readonly rememberedTitle: string;
  readonly rememberedEmpty: string;
  readonly rememberedFailed: string;
  readonly rememberedScope: (scope: RememberedScope) => string;
  readonly revoke: string;
  readonly revokeFailed: string;
  readonly revoked: (tool: string) => string;
}

const EN = 'en';
const calls = (count: number) => `${numberIn(EN, count)} ${pluralIn(EN, count, 'call', 'calls')}`;

const TRAITS: Readonly<Record<ToolTrait, string>> = {
  reads: 'Says that it only reads',
  changes: 'Can change or delete things',
  keeps: 'Says that it deletes nothing',
  reaches: 'Can reach other services',
  unknown: 'Does not say what it can do',
};

export const ENGLISH_APPROVAL: ApprovalStrings = {
  approvalTitle: (agent, tool) => `${agent} wants to use “${tool}”`,
  approvalsTitle: (agent, count) => `${agent} wants to make ${calls(count)}`,
  approvalArrived: (agent) => `${agent} asks for your approval`,
  toolOf: (server) => `Tool of ${server}`,
  toolHints: (hints) => traitsOf(hints).map((trait) => TRAITS[trait]),
  argumentsTitle: 'Arguments',
  noArguments: 'Without arguments',
  secretValue: 'secret, not shown',
  emptyText: 'empty text',
  entries: (count) => `${numberIn(EN, count)} ${pluralIn(EN, count, 'entry', 'entries')}`,
  moreEntries: (count) => `${numberIn(EN, count)} more`,

  approve: 'Approve',
  approveAll: (count) => `Approve all ${numberIn(EN, count)}`,
  editCall: 'Edit',
  approveEdited: 'Approve with these changes',
  deny: 'Deny',
  denyAll: (count) => `Deny all ${numberIn(EN, count)}`,
  back: 'Back',
  denyReason: 'Reason (optional; the agent reads it)',
  rememberFor: (time) =>
    time === 'conversation'
      ? 'Do not ask again in this conversation'
      : `Do not ask again for ${durationIn(EN, time.days * 86_400_000)}`,
  rememberHint: 'For this tool, this agent and the same rule, with any arguments.',
  notEditable: (names) => `Stays as it is: ${names}`,
  badJson: 'is not valid JSON',
  checkCallFirst: 'Please check the call first.',

  approvalEnded: ({ status, here, reason }) => {
    switch (status) {
      case 'approved':
        return here ? 'You approved this.' : 'This was approved somewhere else.';
      case 'edited':
        return here ? 'You approved this with changes.' : 'This was approved with changes somewhere else.';
      case 'denied':
        return here ? 'You denied this.' : 'This was denied somewhere else.';
      case 'expired':
        return 'The time to decide is over. The call is not made.';
      case 'withdrawn':
        return reason === 'run_stopped'
          ? 'The conversation was stopped. The call is not made.'
          : 'This is not needed any more. The call is not made.';
    }
  },
  approvalGone: 'This approval no longer exists.',
  approvalOffline: 'No connection. Nothing is decided from here until it is back.',
  approvalRefusal: (code, retryAfterSeconds) => {
    switch (code) {
      case 'invalid_answer':
        return 'Not accepted. Please check the arguments.';
      case 'unauthenticated':
      case 'forbidden':
        return 'You are signed out, or this approval is for someone else.';
      case 'too_large':
        return 'The arguments are too long.';
      case 'rate_limited':
        return `Please wait ${durationIn(EN, (retryAfterSeconds ?? 10) * 1_000)} and try again.`;
      default:
        return 'Your decision may not have arrived. Please try again.';
    }
  },
  editedTitle: 'Approved arguments',
  deniedBecause: (reason) => `Reason: ${reason}`,
  isRemembered: 'Calls like this are not asked about for now.',

  rememberedTitle: 'Remembered approvals',
  rememberedEmpty: 'Nothing is remembered: every call is asked about.',
  rememberedFailed: 'They could not be loaded.',
  rememberedScope: ({ isConversation, expiresAt }) =>
    isConversation ? 'in one conversation' : `until ${momentIn(EN, expiresAt)}`,
  revoke: 'Revoke',
  revokeFailed: 'This could not be revoked. Please try again.',
  revoked: (tool) => `${tool} is asked about again`,
};
