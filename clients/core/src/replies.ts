import type { Approval } from './domain/approvals/approval.ts';
import type { Elicitation } from './domain/elicitations/elicitation.ts';
import { ParleyClientError } from './errors.ts';

/** One page of a list of elicitations, newest first. `nextCursor` is the cursor of the next page. */
export interface ElicitationPage {
  readonly elicitations: readonly Elicitation[];
  readonly nextCursor?: string;
}

/** Whether a value looks like an elicitation. This is enough to distinguish a reply of Parley from one of a proxy. */
export function isElicitation(value: unknown): value is Elicitation {
  return hasText(value, 'elicitationId') && hasText(value, 'status');
}

/** Reads the elicitation in a reply. Throws `internal` for any other reply. */
export function parseElicitation(reply: unknown): Elicitation {
  if (isElicitation(reply)) return reply;
  throw unexpectedReply();
}

/** Whether a value looks like an approval. */
export function isApproval(value: unknown): value is Approval {
  return hasText(value, 'approvalId') && hasText(value, 'status');
}

/** Reads the approval in a reply. Throws `internal` for any other reply. */
export function parseApproval(reply: unknown): Approval {
  if (isApproval(reply)) return reply;
  throw unexpectedReply();
}

/** One page of a list of approvals, newest first. `nextCursor` is the cursor of the next page. */
export interface ApprovalPage {
  readonly approvals: readonly Approval[];
  readonly nextCursor?: string;
}

/** An approval that also applies to further calls of the same tool by the same agent under the same rule. */
export interface RememberedApproval {
  readonly grantId: string;
  /** The title of the agent. */
  readonly agent: string;
  readonly server: string;
  /** The readable names of the server and the tool; absent if an older build stored none. */
  readonly serverTitle?: string;
  readonly toolTitle?: string;
  readonly tool: string;
  /** Present when the approval applies only to this conversation. */
  readonly conversationId?: string;
  /** ISO 8601. */
  readonly grantedAt: string;
  readonly expiresAt: string;
}

/** Reads the page of approvals in a reply. Throws `internal` for any other reply. */
export function parseApprovalPage(reply: unknown): ApprovalPage {
  return withList<ApprovalPage>(reply, 'approvals');
}

/** Reads the remembered approvals in a reply. Throws `internal` for any other reply. */
export function parseRememberedApprovals(reply: unknown): readonly RememberedApproval[] {
  return withList<{ readonly grants: readonly RememberedApproval[] }>(reply, 'grants').grants;
}

/** Reads the page of elicitations in a reply. Throws `internal` for any other reply. */
export function parsePage(reply: unknown): ElicitationPage {
  return withList<ElicitationPage>(reply, 'elicitations');
}

/** A link with which one browser may answer one question. */
export interface AnswerLink {
  /** Send it only to the person who was asked, and do not store it: its part after # is a secret. */
  readonly url: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** Reads the answer link in a reply. Throws `internal` for any other reply. */
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
