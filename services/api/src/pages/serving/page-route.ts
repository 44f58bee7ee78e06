import { formBody, type Reply, type RequestHead, type Route, route } from '../../http/route.ts';
import type { Browser } from './browser.ts';
import type { PageParts } from './parts.ts';
import { errorAnswer, readVisit, replyOf } from './reply.ts';
import { type PageReply, page, type Visit } from './visit.ts';

const FORM_BYTES_MAX = 16 * 1024;

/** A route of a hosted page. */
export interface PageRoute<Shared extends PageParts> {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly handle: (parts: Shared, visit: Visit) => Promise<PageReply>;
  readonly readsOnly?: true;
  /** @default 16 kB */
  readonly formBytesMax?: number;
}

/** Serves a hosted page. The caller is a browser, so errors are pages as well. */
export function pageRoute<Shared extends PageParts>(
  parts: Shared,
  { handle, formBytesMax = FORM_BYTES_MAX, ...where }: PageRoute<Shared>,
): Route {
  return route<undefined, URLSearchParams | undefined, Browser>({
    ...where,
    proof: { by: 'session', read: (head) => parts.cookie.read(head) },
    ...(where.method === 'POST' && { body: formBody(formBytesMax) }),
    async handle({ head, caller, params, body }) {
      const visit = readVisit(parts, { head, caller, params, form: body });
      return replyOf(parts, visit, await handle(withRequestId(parts, head), visit));
    },
    refuse: (error, { head, caller = parts.cookie.read(head) }) =>
      replyOf(parts, readVisit(parts, { head, caller }), errorAnswer(error, head.requestId)),
  });
}

/** The page for a path that does not exist. */
export function missingPage(parts: PageParts): (head: RequestHead) => Reply {
  return (head) =>
    replyOf(parts, readVisit(parts, { head, caller: parts.cookie.read(head) }), page({ page: 'not-found' }));
}

/** The parts for one request, which record its events under its id. */
export function withRequestId<Shared extends PageParts>(parts: Shared, { requestId }: RequestHead): Shared {
  return { ...parts, onEvent: (event) => parts.onEvent(event, requestId) };
}
