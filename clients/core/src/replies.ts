import type { Approval } from './domain/approvals/approval.ts';
import type { Elicitation } from './domain/elicitations/elicitation.ts';
import { ParleyClientError } from './errors.ts';

/** One page of a list of elicitations, newest first. `nextCursor` leads to the next page. */
export interface ElicitationPage {
  readonly elicitations: readonly Elicitation[];
  readonly nextCursor?: string;
}

/** Whether a value looks like an elicitation: enough to tell a reply of Parley from one of a proxy. */
export function isElicitation(value: unknown): value is Elicitation {
  return hasText(value, 'elicitationId') && hasText(value, 'status');
}

/** The elicitation of a reply. Throws `internal` when it is not one. */
export function parseElicitation(reply: unknown): Elicitation {
  if (isElicitation(reply)) return reply;
  throw unexpectedReply();
}

/** Whether a value looks like an approval. */
export function isApproval(value: unknown): value is Approval {
  return hasText(value, 'approvalId') && hasText(value, 'status');
}

/** The approval of a reply. Throws `internal` when it is not one. */
export function parseApproval(reply: unknown): Approval {
  if (isApproval(reply)) return reply;
  throw unexpectedReply();
}

/** One page of a list of approvals, newest first. `nextCursor` leads to the next page. */
export interface ApprovalPage {
  readonly approvals: readonly Approval[];
  readonly nextCursor?: string;
}

/** An approval that holds for further calls: of this tool, by this agent, under the same rule. */
export interface RememberedApproval {
  readonly grantId: string;
  /** Title of the agent. */
  readonly agent: string;
  readonly server: string;
  /** The server and the tool as people know them, where their builds told. */
  readonly serverTitle?: string;
  readonly toolTitle?: string;
  readonly tool: string;
  /** Present when it holds in this conversation only. */
  readonly conversationId?: string;
  /** ISO 8601. */
  readonly grantedAt: string;
  readonly expiresAt: string;
}

/** The page of approvals of a reply. Throws `internal` when it is not one. */
export function parseApprovalPage(reply: unknown): ApprovalPage {
  return withList<ApprovalPage>(reply, 'approvals');
}

/** The remembered approvals of a reply. Throws `internal` when it has none. */
export function parseRememberedApprovals(reply: unknown): readonly RememberedApproval[] {
  return withList<{ readonly grants: readonly RememberedApproval[] }>(reply, 'grants').grants;
}

/** The page of a reply. Throws `internal` when it is not one. */
export function parsePage(reply: unknown): ElicitationPage {
  return withList<ElicitationPage>(reply, 'elicitations');
}

/** A link with which one browser may answer one question. */
export interface AnswerLink {
  /** Send it to the person who was asked, and store it nowhere: its part after # is a secret. */
  readonly url: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** The answer link of a reply. Throws `internal` when it is not one. */
export function parseAnswerLink(reply: unknown): AnswerLink {
  if (hasText(reply, 'url') && hasText(reply, 'expiresAt')) return reply as AnswerLink;
  throw unexpectedReply();
}

function withList<Reply>(reply: unknown, list: keyof Reply & string): Reply {
  const lists = typeof reply === 'object' && reply !== null && Array.isArray(Reflect.get(reply, list));
  if (lists) return reply as Reply;
  throw unexpectedReply();
}

function hasText(value: unknown, key: string): boolean {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, key) === 'string';
}

function unexpectedReply(): ParleyClientError {
  return new ParleyClientError('internal', 'The reply does not come from Parley; check baseUrl.');
}
