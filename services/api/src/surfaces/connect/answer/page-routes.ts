import { bucketOfElicitationId, isApprovalId } from '@parley/shared/domain/ids';
import { sha256 } from '@parley/shared/elicitations/records/digest';
import type { Reply, RequestHead, Route, Surface } from '../../../http/route.ts';
import { route } from '../../../http/route.ts';
import type { Browser, CookieKind } from '../flows/browser.ts';
import { missingPage, type PageRoute, pageRoute, withRequestId } from '../handlers/page-route.ts';
import { type ConnectDeps, createPageParts, createParts, type Parts } from '../handlers/parts.ts';
import { errorAnswer, readVisit, replyOf } from '../handlers/reply.ts';
import { page } from '../handlers/visit.ts';
import { answerPath } from '../own-pages.ts';
import { approve, deny, showApproval } from './approval.ts';
import { BY_LINK, type LinkDeps, type LinkParts, openLink } from './by-link.ts';
import { BY_OWNER, isOwner, signInToAnswer, signOutOfAnswer } from './by-owner.ts';
import { ACCESS_SECONDS_MAX } from './links.ts';
import { questionHandlers } from './question.ts';

export interface AnswerDeps extends LinkDeps {
  /** What the connect pages have; absent where there are none. Owners sign in by it, unless it binds sessions. */
  readonly connect?: ConnectDeps;
}

// Fifty texts of some length; every character may take nine bytes in a form.
const ANSWER_BYTES_MAX = 256 * 1024;
const REASON_BYTES_MAX = 32 * 1024;

const PAGES = '/auth/answer';
const NAME_LENGTH = 16;

/** The browser of one question, for as long as a link can give access: each question has a cookie of its own. */
export const ANSWER_COOKIE: CookieKind = {
  maxAgeSeconds: ACCESS_SECONDS_MAX,
  name: 'parley-answer',
  suffixOf({ url }) {
    const [id = ''] = url.slice(PAGES.length + 1).split(/[/?]/u);
    if (!url.startsWith(`${PAGES}/`) || bucketOfElicitationId(id) === undefined) return '';
    return `-${sha256(id).slice(0, NAME_LENGTH)}`;
  },
};

const SHOW = { method: 'GET', path: '/auth/answer/:id' } as const;
/** In the address of the page: the owner wants to sign in, although the question has a link. */
const SIGN_IN = 'sign-in';

const byLink = questionHandlers(BY_LINK);
const byOwner = questionHandlers(BY_OWNER);

const LINK_PAGES: readonly PageRoute<LinkParts>[] = [
  { method: 'POST', path: '/auth/answer/:id/open', handle: openLink },
  { method: 'POST', path: '/auth/answer/:id/accept', handle: byLink.accept, formBytesMax: ANSWER_BYTES_MAX },
  { method: 'POST', path: '/auth/answer/:id/decline', handle: byLink.decline },
];

const OWNER_PAGES: readonly PageRoute<Parts>[] = [
  { method: 'POST', path: '/auth/answer/:id/sign-in', handle: signInToAnswer },
  { method: 'POST', path: '/auth/answer/:id/sign-out', handle: signOutOfAnswer },
  {
    method: 'POST',
    path: '/auth/answer/:id/signed-in/accept',
    handle: byOwner.accept,
    formBytesMax: ANSWER_BYTES_MAX,
  },
  { method: 'POST', path: '/auth/answer/:id/signed-in/decline', handle: byOwner.decline },
  { method: 'POST', path: '/auth/answer/:id/approve', handle: approve },
  { method: 'POST', path: '/auth/answer/:id/deny', handle: deny, formBytesMax: REASON_BYTES_MAX },
];

/**
 * All of `/auth/answer`: the pages on which people answer a question, by a link or as its signed-in owner, and decide on an
 * approval. Links and sign-ins have cookies of their own. Mount it before the rest of `/auth`.
 */
export function answerPageRoutes({ connect, ...deps }: AnswerDeps): Surface {
  const parts = createPageParts(deps, ANSWER_COOKIE);
  const owners = connect === undefined || !hasAnswerPage(connect) ? undefined : createParts(connect);
  return {
    routes: [
      showRoute(parts, owners),
      ...LINK_PAGES.map((one) => pageRoute(parts, one)),
      ...(owners === undefined ? [] : OWNER_PAGES.map((one) => pageRoute(owners, one))),
    ],
    below: { path: PAGES, missing: missingPage(parts) },
  };
}

/** True when owners can sign in on the answer page. */
export function hasAnswerPage({ identity }: Pick<ConnectDeps, 'identity'>): boolean {
  return identity.type !== 'bound';
}

/** `GET /auth/answer/:id`: the question, for the browser that opened its link or for its owner; or the approval. Reads only. */
function showRoute(parts: LinkParts, owners: Parts | undefined): Route {
  return route<undefined, undefined, Browser>({
    ...SHOW,
    readsOnly: true,
    proof: { by: 'session', read: (head) => parts.cookie.read(head) },
    async handle({ head, caller, params }) {
      if (owners !== undefined && isApprovalId(params.id ?? '')) {
        const own = readVisit(owners, { head, caller: owners.cookie.read(head), params });
        return replyOf(owners, own, await showApproval(withRequestId(owners, head), own));
      }
      const visit = readVisit(parts, { head, caller, params });
      const found = await BY_LINK.find(parts, visit);
      if ('view' in found && found.view.page === 'answer-entry' && owners !== undefined) {
        const own = readVisit(owners, { head, caller: owners.cookie.read(head), params });
        const isAwaited = own.query.has(SIGN_IN) || !(await parts.links.isIssued(visit.param));
        if (isAwaited || (await isOwner(owners, own))) {
          const foundByOwner = await BY_OWNER.find(withRequestId(owners, head), own);
          return replyOf(owners, own, byOwner.show(own, foundByOwner));
        }
        const signInPath = `${answerPath(visit.param)}?${SIGN_IN}`;
        return replyOf(parts, visit, page({ ...found.view, signInPath }));
      }
      return replyOf(parts, visit, byLink.show(visit, found));
    },
    refuse: (error, { head, caller = parts.cookie.read(head) }) => refusal(parts, error, head, caller),
  });
}

function refusal(parts: LinkParts, error: unknown, head: RequestHead, caller: Browser): Reply {
  return replyOf(parts, readVisit(parts, { head, caller }), errorAnswer(error, head.requestId));
}
