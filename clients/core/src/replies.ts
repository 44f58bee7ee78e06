import type { Approval } from '@parley/shared/domain/approvals/approval';
import type { Elicitation } from '@parley/shared/domain/elicitations/elicitation';
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

/** The approval of a reply. Throws `internal` when it is not one. */
export function parseApproval(reply: unknown): Approval {
  if (hasText(reply, 'approvalId') && hasText(reply, 'status')) return reply as Approval;
  throw unexpectedReply();
}

/** The page of a reply. Throws `internal` when it is not one. */
export function parsePage(reply: unknown): ElicitationPage {
  const page = reply as Partial<ElicitationPage> | null;
  if (page !== null && Array.isArray(page.elicitations)) return page as ElicitationPage;
  throw unexpectedReply();
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

function hasText(value: unknown, key: string): boolean {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, key) === 'string';
}

function unexpectedReply(): ParleyClientError {
  return new ParleyClientError('internal', 'The reply does not come from Parley; check baseUrl.');
}
