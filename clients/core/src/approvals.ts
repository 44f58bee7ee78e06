import type { Approval } from './domain/approvals/approval.ts';
import type { ApprovalStatus } from './domain/approvals/status.ts';
import { type CallTimeLimits, ELICITATIONS_PATH } from './elicitations.ts';
import {
  type ApprovalPage,
  parseApproval,
  parseApprovalPage,
  parseRememberedApprovals,
  type RememberedApproval,
} from './replies.ts';
import { type HttpCall, pathSegment, type Transport } from './transport.ts';

/**
 * A person's decision on a tool call. `arguments` are all arguments of the call, with masked values unchanged. The model reads
 * `reason`.
 */
export type ApprovalChoice =
  | { readonly decision: 'approve'; readonly remember?: boolean }
  | { readonly decision: 'edit'; readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly decision: 'deny'; readonly reason?: string };

export interface ApprovalQuery {
  readonly status?: ApprovalStatus | undefined;
  readonly conversationId?: string | undefined;
  /** The number of approvals in a page, 1 to 200. @default 50 */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

const APPROVALS_PATH = '/v1/approvals';
/** The prefix of approval ids. */
const APPROVAL_ID = 'ap_';
const GRANTS_PATH = '/v1/approval-grants';

/** The path of the answer link of a question or an approval. Throws `not_found` for a text that cannot be an id. */
export function answerLinkPath(id: string): string {
  const records = id.startsWith(APPROVAL_ID) ? APPROVALS_PATH : ELICITATIONS_PATH;
  return `${records}/${pathSegment(id)}/answer-link`;
}

// The calls are functions, not methods of one object, so that a bundle contains only those that it uses. They reject with the
// errors of the transport's `request`.

export async function readApproval(
  transport: Transport,
  approvalId: string,
  { signal, ...limits }: CallTimeLimits = {},
): Promise<Approval> {
  const call = { method: 'GET', path: `${APPROVALS_PATH}/${pathSegment(approvalId)}`, signal } as const;
  return parseApproval(await transport.request(call, limits));
}

/** Reads one page of the token owner's approvals, newest first. */
export async function listApprovals(
  transport: Transport,
  { limit, ...filter }: ApprovalQuery,
  { signal, ...limits }: CallTimeLimits = {},
): Promise<ApprovalPage> {
  const query = { limit: limit === undefined ? undefined : String(limit), ...filter };
  const call = { method: 'GET', path: APPROVALS_PATH, query, signal } as const;
  return parseApprovalPage(await transport.request(call, limits));
}

/** Sends a decision. Sending the same decision again is safe. */
export async function sendDecision(
  transport: Transport,
  approvalId: string,
  choice: ApprovalChoice,
  { signal, keepalive, ...limits }: CallTimeLimits & Pick<HttpCall, 'keepalive'> = {},
): Promise<Approval> {
  const path = `${APPROVALS_PATH}/${pathSegment(approvalId)}/response`;
  const call = { method: 'POST', path, body: choice, keepalive, signal } as const;
  return parseApproval(await transport.request(call, { ...limits, checkReply: parseApproval }));
}

/** Reads the remembered approvals of the token's owner. */
export async function listRememberedApprovals(
  transport: Transport,
  { signal, ...limits }: CallTimeLimits = {},
): Promise<readonly RememberedApproval[]> {
  const call = { method: 'GET', path: GRANTS_PATH, signal } as const;
  return parseRememberedApprovals(await transport.request(call, limits));
}

/** Revokes a remembered approval, so that the next call of its kind asks again. */
export async function revokeRememberedApproval(
  transport: Transport,
  grantId: string,
  { signal, ...limits }: CallTimeLimits = {},
): Promise<void> {
  const call = { method: 'DELETE', path: `${GRANTS_PATH}/${pathSegment(grantId)}`, signal } as const;
  await transport.request(call, limits);
}
