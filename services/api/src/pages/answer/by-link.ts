/** The entrance to answer pages for a browser that opened an answer link. The entrance by sign-in is in `by-owner.ts`. */

import { isTerminal } from '@parley/core/domain/elicitations/status';
import { bucketOfRecordId, isApprovalId, type Owner } from '@parley/core/domain/ids';
import type { Approvals, Elicitations } from '@parley/shared/ports/elicitations/elicitations';
import { answerPath } from '../../accounts/own-pages.ts';
import { FORM_FIELDS } from '../kit/fields.ts';
import { findAnswerable } from '../serving/access.ts';
import { countFailure } from '../serving/attempts.ts';
import { browserIdBy } from '../serving/browser.ts';
import { readForm } from '../serving/form.ts';
import type { PageDeps, PageParts } from '../serving/parts.ts';
import { buildFormTarget, type PageReply, page, single, type Visit } from '../serving/visit.ts';
import type { PageView } from '../views/view.ts';
import type { ApprovalEntrance, ApprovalParts, FoundApproval } from './approval.ts';
import type { AnswerLinks } from './links.ts';
import { type Entrance, endedView, type Found, type QuestionParts } from './question.ts';

export interface LinkDeps extends PageDeps, Pick<QuestionParts & ApprovalParts, 'engine' | 'callLimits'> {
  readonly elicitations: Pick<Elicitations, 'read'>;
  readonly approvals: Pick<Approvals, 'read'>;
  readonly links: AnswerLinks;
  /** False if approvals have no links. An existing link then opens nothing. */
  readonly linksApprovals: boolean;
}

/** Shared by the routes that a browser uses with a link. */
export type LinkParts = LinkDeps & PageParts;

const SURFACE = 'answer-link';

/** The entrance for a browser that has opened the question's link. Nobody is signed in. */
export const BY_LINK: Entrance<LinkParts> = {
  surface: SURFACE,
  find: findByLink,
  pathOf: answerPath,
};

/** The entrance for a browser that has opened the approval's link. It decides only on this call, so nothing is remembered. */
export const APPROVAL_BY_LINK: ApprovalEntrance<LinkParts> = {
  surface: SURFACE,
  remembers: false,
  find: findApprovalByLink,
  pathOf: (approvalId) => `${answerPath(approvalId)}/by-link`,
};

/** For a browser that has not opened the link, nothing of the question is read. */
async function findByLink(parts: LinkParts, visit: Visit): Promise<Found> {
  const closed = await closedView(parts, visit);
  if (closed !== undefined) return { view: closed };
  const found = await findAnswerable(parts, visit.param);
  if (found === undefined) return { view: { page: 'not-found' } };
  const { row, now } = found;
  return isTerminal(row.status) || now >= row.expiresAt ? { view: endedView(row, BY_LINK) } : found;
}

async function findApprovalByLink(parts: LinkParts, visit: Visit): Promise<FoundApproval> {
  const closed = await closedView(parts, visit);
  if (closed !== undefined) return { view: closed };
  const { row, now } = await parts.approvals.read(visit.param);
  return row === undefined ? { view: { page: 'not-found' } } : { seen: { row, now } };
}

/** The page for a browser that has not opened the link. */
async function closedView(parts: LinkParts, { param: id, browser }: Visit): Promise<PageView | undefined> {
  if (!mayHaveLink(parts, id)) return { page: 'not-found' };
  if (await parts.links.isOpen(id, browser)) return undefined;
  const enter = buildFormTarget(browser, `${answerPath(id)}/open`);
  return { page: 'answer-entry', enter, ...(isApprovalId(id) && { about: 'approval' }) };
}

/** True for an id that Parley may have created, of a record that may have a link. */
function mayHaveLink({ linksApprovals }: LinkParts, id: string): boolean {
  return bucketOfRecordId(id) !== undefined && (linksApprovals || !isApprovalId(id));
}

/**
 * `POST /auth/answer/:id/open`: receives the token of the link. The first browser that sends it gets access to the question or
 * approval. It also gets a new browser id, because an attacker may have planted the old one.
 */
export async function openLink(parts: LinkParts, visit: Visit): Promise<PageReply> {
  const id = visit.param;
  const form = await readForm(parts, visit, answerPath(id));
  if ('view' in form) return page(form.view);
  if (!mayHaveLink(parts, id)) return page({ page: 'not-found' });
  const { owner, now } = await readOwner(parts, id);
  if (await parts.links.isOpen(id, visit.browser)) return { type: 'moved', path: answerPath(id) };
  const token = tokenIn(single(form.fields, FORM_FIELDS.token) ?? '');
  const browserId = browserIdBy(token, visit.browser);
  const isOpened =
    owner !== undefined && (await parts.links.open(id, token, { browser: { id: browserId }, now }));
  if (!isOpened) return page((await countFailure(parts, visit)) ?? { page: 'answer-spent' });
  parts.onEvent({ type: 'link', change: 'opened', elicitationId: id, tenant: owner.tenant });
  return { type: 'moved', path: answerPath(id), browserId };
}

async function readOwner(
  { elicitations, approvals }: LinkParts,
  id: string,
): Promise<{ readonly owner: Owner | undefined; readonly now: number }> {
  const { row, now } = isApprovalId(id) ? await approvals.read(id) : await elicitations.read(id);
  return { owner: row?.definition, now };
}

/** The token in the posted text: a person without scripts may paste the whole link. */
function tokenIn(text: string): string {
  return text.slice(text.lastIndexOf('#') + 1).trim();
}
