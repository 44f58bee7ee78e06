import { isTerminal } from '@parley/shared/domain/elicitations/status';
import { bucketOfElicitationId } from '@parley/shared/domain/ids';
import type { Elicitations } from '@parley/shared/ports/elicitations/elicitations';
import { browserIdBy } from '../flows/browser.ts';
import { findAnswerable } from '../handlers/access.ts';
import { readForm } from '../handlers/form.ts';
import type { PageDeps, PageParts } from '../handlers/parts.ts';
import { counted } from '../handlers/sign-in.ts';
import { buildFormTarget, type PageReply, page, single, type Visit } from '../handlers/visit.ts';
import { answerPath } from '../own-pages.ts';
import { FORM_FIELDS } from '../pages/fields.ts';
import type { AnswerLinks } from './links.ts';
import { type Entrance, endedView, type Found, type QuestionParts } from './question.ts';

export interface LinkDeps extends PageDeps, Pick<QuestionParts, 'engine' | 'callLimits'> {
  readonly elicitations: Pick<Elicitations, 'read'>;
  readonly links: AnswerLinks;
}

/** What the routes share that a browser uses with a link. */
export type LinkParts = LinkDeps & PageParts;

/** A browser that has opened the question's link. No person is signed in. */
export const BY_LINK: Entrance<LinkParts> = {
  surface: 'answer-link',
  find: findByLink,
  pathOf: answerPath,
};

/** Nothing of the question is read for a browser that has not opened its link. */
async function findByLink(parts: LinkParts, { param: id, browser }: Visit): Promise<Found> {
  if (bucketOfElicitationId(id) === undefined) return { view: { page: 'not-found' } };
  if (!(await parts.links.isOpen(id, browser)))
    return { view: { page: 'answer-entry', enter: buildFormTarget(browser, `${answerPath(id)}/open`) } };
  const found = await findAnswerable(parts, id);
  if (found === undefined) return { view: { page: 'not-found' } };
  const { row, now } = found;
  return isTerminal(row.status) || now >= row.expiresAt ? { view: endedView(row, BY_LINK) } : found;
}

/**
 * `POST /auth/answer/:id/open`: the token of the link. The first browser that sends it gets the question, under a new id: it
 * may have been given its id by somebody else.
 */
export async function openLink(parts: LinkParts, visit: Visit): Promise<PageReply> {
  const id = visit.param;
  const form = await readForm(parts, visit, answerPath(id));
  if ('view' in form) return page(form.view);
  if (bucketOfElicitationId(id) === undefined) return page({ page: 'not-found' });
  const { row, now } = await parts.elicitations.read(id);
  if (await parts.links.isOpen(id, visit.browser)) return { type: 'moved', path: answerPath(id) };
  const token = tokenIn(single(form.fields, FORM_FIELDS.token) ?? '');
  const browserId = browserIdBy(token, visit.browser);
  const isOpened =
    row !== undefined && (await parts.links.open(id, token, { browser: { id: browserId }, now }));
  if (!isOpened) return page((await counted(parts, visit)) ?? { page: 'answer-spent' });
  parts.onEvent({ type: 'link', change: 'opened', elicitationId: id, tenant: row.definition.tenant });
  return { type: 'moved', path: answerPath(id), browserId };
}

/** The token in what was posted: a person without scripts may paste the whole link. */
function tokenIn(text: string): string {
  return text.slice(text.lastIndexOf('#') + 1).trim();
}
