import { isTerminal } from '@parley/core/domain/elicitations/status';
import { isSameOwner } from '@parley/core/domain/ids';
import { ANSWER_PAGE_SURFACE, answerPath, isOfApproval, type OwnPage } from '../../accounts/own-pages.ts';
import { findAnswerable, mismatchView, signInView } from '../serving/access.ts';
import { readForm } from '../serving/form.ts';
import type { Parts } from '../serving/parts.ts';
import { type PageReply, page, type Visit } from '../serving/visit.ts';
import { signIn } from '../sign-in/sign-in.ts';
import { type Entrance, endedView, type Found } from './question.ts';

/** The entrance of the owner, signed in as on the connect page. */
export const BY_OWNER: Entrance<Parts> = {
  surface: ANSWER_PAGE_SURFACE,
  find: findByOwner,
  pathOf: (elicitationId) => `${answerPath(elicitationId)}/signed-in`,
};

/** The question, for its signed-in owner. Everybody else gets a page that reveals nothing of it. */
async function findByOwner(parts: Parts, visit: Visit): Promise<Found> {
  const found = await findAnswerable(parts, visit.param);
  if (found === undefined) return { view: { page: 'not-found' } };
  const { row, now } = found;
  const isOver = isTerminal(row.status) || now >= row.expiresAt;
  const person = await parts.sessions.person(visit.browser);
  if (person === undefined)
    return { view: isOver ? endedView(row, BY_OWNER) : signInView(parts, visit, ownPage(visit)) };
  if (!isSameOwner(person, row.definition)) {
    parts.onEvent({ type: 'mismatch', elicitationId: row.id, tenant: row.definition.tenant });
    return { view: mismatchView(visit.browser, ownPage(visit)), mismatch: true };
  }
  return isOver ? { view: endedView(row, BY_OWNER) } : { row, now, person: person.name };
}

/** True if the signed-in person owns the question. */
export async function isOwner(parts: Parts, visit: Visit): Promise<boolean> {
  const person = await parts.sessions.person(visit.browser);
  const found = person === undefined ? undefined : await findAnswerable(parts, visit.param);
  return person !== undefined && found !== undefined && isSameOwner(person, found.row.definition);
}

/** `POST /auth/answer/:id/sign-in`. */
export function signInToAnswer(parts: Parts, visit: Visit): Promise<PageReply> {
  return signIn(parts, visit, ownPage(visit));
}

/** `POST /auth/answer/:id/sign-out`: signs out, and shows the sign-in for another person. */
export async function signOutOfAnswer(parts: Parts, visit: Visit): Promise<PageReply> {
  const own = ownPage(visit);
  const form = await readForm(parts, visit, answerPath(visit.param));
  if ('view' in form) return page(form.view);
  const id = await parts.sessions.signOut(visit.browser);
  return !isOfApproval(own) && (await findAnswerable(parts, visit.param)) === undefined
    ? page({ page: 'not-found' }, id)
    : page(signInView(parts, { browser: { id } }, own, true), id);
}

function ownPage({ param }: Visit): OwnPage {
  return { about: 'answer', elicitationId: param };
}
