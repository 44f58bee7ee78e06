import type { RememberFor } from '@parley/core/domain/approvals/approval';
import type { Risk } from '@parley/core/domain/approvals/risk';
import type { EndedApprovalStatus } from '@parley/core/domain/approvals/status';
import type { Html } from '../../kit/html.ts';
import type { Notice } from '../../kit/notice.ts';
import type { AnswerStrings } from '../answer/strings.ts';

/** What a tool says about itself, as far as it matters to a person who decides. */
export type ToolTrait = 'reads' | 'changes' | 'keeps' | 'reaches' | 'unknown';

/** The texts of the page on which a person decides on a call, in one language. */
export interface ApprovalPageStrings {
  /** Why the person signs in. */
  readonly signInWhy: string;
  /** Of the page that opens a link, where it differs from that of a question. */
  readonly entry: Pick<AnswerStrings['entry'], 'title' | 'lead' | 'button' | 'signIn'>;
  /** Agent, tool. */
  readonly title: (agent: Html, tool: Html) => Html;
  readonly tool: string;
  readonly risk: string;
  readonly risks: Readonly<Record<Risk, string>>;
  readonly traits: Readonly<Record<ToolTrait, string>>;
  readonly arguments: string;
  readonly noArguments: string;
  readonly secret: string;
  readonly empty: string;
  readonly rememberFor: (time: RememberFor) => string;
  readonly rememberHelp: string;
  readonly reason: string;
  readonly reasonHelp: string;
  readonly reasonFault: string;
  readonly approve: string;
  readonly deny: string;
  readonly timeLeft: (leftMs: number) => string;
  readonly editElsewhere: string;
  readonly ended: Readonly<Record<EndedApprovalStatus, Notice>>;
  readonly late: string;
}
