import type { Owner } from '@parley/core/domain/ids';
import type { PersonPage } from '../../accounts/own-pages.ts';
import type { Person } from '../identity/identity.ts';
import type { PageView } from '../views/view.ts';
import { signInView } from './access.ts';
import { readForm } from './form.ts';
import type { Parts } from './parts.ts';
import { type PageReply, page, type Visit } from './visit.ts';

/** The signed-in person of a page that is not about one record; for everybody else, the page to show. */
export async function admitPerson(
  parts: Parts,
  visit: Visit,
  own: PersonPage,
): Promise<{ readonly person: Person; readonly owner: Owner } | { readonly view: PageView }> {
  if (parts.identity.type === 'bound') return { view: elsewhere(own) };
  const person = await parts.sessions.person(visit.browser);
  if (person === undefined) return { view: signInView(parts, visit, own) };
  const { tenant, userId } = person;
  return { person, owner: { tenant, userId } };
}

/** Signs out, and shows the sign-in for another person. `path` is the path of the form. */
export async function signOutOf(
  parts: Parts,
  visit: Visit,
  own: PersonPage,
  path: string,
): Promise<PageReply> {
  const form = await readForm(parts, visit, path);
  if ('view' in form) return page(form.view);
  if (parts.identity.type === 'bound') return page(elsewhere(own));
  const id = await parts.sessions.signOut(visit.browser);
  return page(signInView(parts, { browser: { id } }, own, true), id);
}

function elsewhere({ about }: PersonPage): PageView {
  return { page: `${about}-elsewhere` };
}
