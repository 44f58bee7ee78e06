import type { Owner } from '@parley/shared/domain/ids';
import { INBOX_PAGE } from '../../accounts/own-pages.ts';
import type { Person } from '../identity/identity.ts';
import { signInView } from '../serving/access.ts';
import type { Parts } from '../serving/parts.ts';
import type { Visit } from '../serving/visit.ts';
import type { PageView } from '../views/view.ts';

/** The signed-in person; the page for everybody else. */
export async function admitToInbox(
  parts: Parts,
  visit: Visit,
): Promise<{ readonly person: Person; readonly owner: Owner } | { readonly view: PageView }> {
  if (parts.identity.type === 'bound') return { view: { page: 'inbox-elsewhere' } };
  const person = await parts.sessions.person(visit.browser);
  if (person === undefined) return { view: signInView(parts, visit, INBOX_PAGE) };
  const { tenant, userId } = person;
  return { person, owner: { tenant, userId } };
}
