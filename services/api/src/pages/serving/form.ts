import type { RequestHead } from '../../http/route.ts';
import { FORM_FIELDS } from '../kit/fields.ts';
import type { PageView } from '../views/view.ts';
import { isOurForm } from './browser.ts';
import type { PageParts } from './parts.ts';
import { single, type Visit } from './visit.ts';

/** The fields of a form that one of our own pages sent, or the page that says why it is not taken. */
export async function readForm(
  parts: Pick<PageParts, 'publicUrl' | 'attempts'>,
  visit: Visit,
  retry: string | undefined,
): Promise<{ readonly fields: URLSearchParams } | { readonly view: PageView }> {
  const refused: PageView = { page: 'refused', ...(retry !== undefined && { retry }) };
  const { form: fields } = visit;
  if (fields === undefined || !isFromUs(visit.head, parts.publicUrl)) return { view: refused };
  if (!isOurForm(visit.browser, single(fields, FORM_FIELDS.csrf))) return { view: refused };
  // Only now: what other sites send from a person's browser must not use up what that person has.
  const { attempts } = parts;
  const seconds = (await attempts.blocked(visit.address)) ?? (await attempts.posted(visit.address));
  return seconds === undefined ? { fields } : { view: { page: 'too-many', retryAfterSeconds: seconds } };
}

/** True when the browser names our origin as that of the form. One that names none is not believed. */
function isFromUs(head: RequestHead, publicUrl: string): boolean {
  const { origin, 'sec-fetch-site': site } = head.headers;
  return isOfOwnPage(head, publicUrl) && (origin !== undefined || site !== undefined);
}

/** False where the browser says that a page of another origin made the request. */
export function isOfOwnPage({ headers }: RequestHead, publicUrl: string): boolean {
  const { origin, 'sec-fetch-site': site } = headers;
  return (site === undefined || site === 'same-origin') && (origin === undefined || origin === publicUrl);
}
