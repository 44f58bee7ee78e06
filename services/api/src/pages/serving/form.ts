import type { RequestHead } from '../../http/route.ts';
import { FORM_FIELDS } from '../kit/fields.ts';
import type { PageView } from '../views/view.ts';
import { isOurForm } from './browser.ts';
import type { PageParts } from './parts.ts';
import { single, type Visit } from './visit.ts';

/** The fields of a form that one of Parley's pages sent; or the page that says why the form is refused. */
export async function readForm(
  parts: Pick<PageParts, 'publicUrl' | 'attempts'>,
  visit: Visit,
  retry: string | undefined,
): Promise<{ readonly fields: URLSearchParams } | { readonly view: PageView }> {
  const refused: PageView = { page: 'refused', ...(retry !== undefined && { retry }) };
  const { form: fields } = visit;
  if (fields === undefined || !isFromUs(visit.head, parts.publicUrl)) return { view: refused };
  if (!isOurForm(visit.browser, single(fields, FORM_FIELDS.csrf))) return { view: refused };
  // The form counts only now: requests that other sites cause in a person's browser must not use up the person's attempts.
  const { attempts } = parts;
  const seconds = (await attempts.blocked(visit.address)) ?? (await attempts.posted(visit.address));
  return seconds === undefined ? { fields } : { view: { page: 'too-many', retryAfterSeconds: seconds } };
}

/** True if the browser reports Parley's origin as the origin of the form. A request without such a report is refused. */
function isFromUs(head: RequestHead, publicUrl: string): boolean {
  const { origin, 'sec-fetch-site': site } = head.headers;
  return isOfOwnPage(head, publicUrl) && (origin !== undefined || site !== undefined);
}

/** False if the browser reports that a page of another origin made the request. */
export function isOfOwnPage({ headers }: RequestHead, publicUrl: string): boolean {
  const { origin, 'sec-fetch-site': site } = headers;
  return (site === undefined || site === 'same-origin') && (origin === undefined || origin === publicUrl);
}
