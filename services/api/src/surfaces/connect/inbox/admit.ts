import type { Owner } from '@parley/shared/domain/ids';
import { signInView } from '../handlers/access.ts';
import type { Parts } from '../handlers/parts.ts';
import type { Visit } from '../handlers/visit.ts';
import type { Person } from '../identity/identity.ts';
import { INBOX_PAGE } from '../own-pages.ts';
import type { ConnectView } from '../pages/view.ts';

/** The signed-in person; the page for everybody else. */
export async function admitToInbox(
  parts: Parts,
  visit: Visit,
): Promise<{ readonly person: Person; readonly owner: Owner } | { readonly view: ConnectView }> {
  if (parts.identity.type === 'bound') return { view: { page: 'inbox-elsewhere' } };
  const person = await parts.sessions.person(visit.browser);
  if (person === undefined) return { view: signInView(parts, visit, INBOX_PAGE) };
  const { tenant, userId } = person;
  return { person, owner: { tenant, userId } };
}
