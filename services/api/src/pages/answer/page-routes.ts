/** The routes below `/auth/answer`. What the pages do is in `question.ts` and `approval.ts`. */

import { bucketOfRecordId, isApprovalId } from '@parley/core/domain/ids';
import { sha256 } from '@parley/shared/records/digest';
import { answerPath } from '../../accounts/own-pages.ts';
import type { Route, Surface } from '../../http/route.ts';
import { route } from '../../http/route.ts';
import type { Browser, CookieKind } from '../serving/browser.ts';
import { missingPage, type PageRoute, pageRoute, withRequestId } from '../serving/page-route.ts';
import { type AuthPagesDeps, createPageParts, createParts, type Parts } from '../serving/parts.ts';
import { errorAnswer, readVisit, replyOf } from '../serving/reply.ts';
import { type PageReply, page, type Visit } from '../serving/visit.ts';
import { approvalHandlers } from './approval.ts';
import { APPROVAL_BY_OWNER, isDecider } from './approval-by-owner.ts';
import { APPROVAL_BY_LINK, BY_LINK, type LinkDeps, type LinkParts, openLink } from './by-link.ts';
import { BY_OWNER, isOwner, signInToAnswer, signOutOfAnswer } from './by-owner.ts';
import { ACCESS_SECONDS_MAX } from './links.ts';
import { questionHandlers } from './question.ts';

interface AnswerDeps extends LinkDeps {
  /** The parts with which owners sign in, except with session binding. Absent if the deployment has no connect pages. */
  readonly connect?: AuthPagesDeps;
}

// Enough for fifty long texts. A character may take nine bytes in a form.
const ANSWER_BYTES_MAX = 256 * 1024;
const REASON_BYTES_MAX = 32 * 1024;

const PAGES = '/auth/answer';
const NAME_LENGTH = 16;

/**
 * The cookie of the browser that has access to one question or approval, for as long as a link can give access. Each record has
 * its own cookie.
 */
export const ANSWER_COOKIE: CookieKind = {
  maxAgeSeconds: ACCESS_SECONDS_MAX,
  name: 'parley-answer',
  suffixOf({ url }) {
    const [id = ''] = url.slice(PAGES.length + 1).split(/[/?]/u);
    if (!url.startsWith(`${PAGES}/`) || bucketOfRecordId(id) === undefined) return '';
    return `-${sha256(id).slice(0, NAME_LENGTH)}`;
  },
};

const SHOW = { method: 'GET', path: '/auth/answer/:id' } as const;
/** A parameter in the page's address: the owner wants to sign in although the question has a link. */
const SIGN_IN = 'sign-in';

const byLink = questionHandlers(BY_LINK);
const byOwner = questionHandlers(BY_OWNER);
const approvalByLink = approvalHandlers(APPROVAL_BY_LINK);
const approvalByOwner = approvalHandlers(APPROVAL_BY_OWNER);

const LINK_PAGES: readonly PageRoute<LinkParts>[] = [
  { method: 'POST', path: '/auth/answer/:id/open', handle: openLink },
  { method: 'POST', path: '/auth/answer/:id/accept', handle: byLink.accept, formBytesMax: ANSWER_BYTES_MAX },
  { method: 'POST', path: '/auth/answer/:id/decline', handle: byLink.decline },
  { method: 'POST', path: '/auth/answer/:id/by-link/approve', handle: approvalByLink.approve },
  {
    method: 'POST',
    path: '/auth/answer/:id/by-link/deny',
    handle: approvalByLink.deny,
    formBytesMax: REASON_BYTES_MAX,
  },
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
  { method: 'POST', path: '/auth/answer/:id/approve', handle: approvalByOwner.approve },
  {
    method: 'POST',
    path: '/auth/answer/:id/deny',
    handle: approvalByOwner.deny,
    formBytesMax: REASON_BYTES_MAX,
  },
];

/** How the pages of one family of records are shown. */
interface ShownPages {
  byLink(parts: LinkParts, visit: Visit): Promise<PageReply>;
  byOwner(owners: Parts, visit: Visit): Promise<PageReply>;
  isOwner(owners: Parts, visit: Visit): Promise<boolean>;
}

const QUESTION_PAGES: ShownPages = {
  byLink: async (parts, visit) => byLink.show(visit, await BY_LINK.find(parts, visit)),
  byOwner: async (owners, visit) => byOwner.show(visit, await BY_OWNER.find(owners, visit)),
  isOwner,
};
const APPROVAL_PAGES: ShownPages = {
  byLink: async (parts, visit) => approvalByLink.show(visit, await APPROVAL_BY_LINK.find(parts, visit)),
  byOwner: async (owners, visit) => approvalByOwner.show(visit, await APPROVAL_BY_OWNER.find(owners, visit)),
  isOwner: isDecider,
};

/**
 * All routes of `/auth/answer`: the pages on which people answer a question, through a link or as its signed-in owner, and
 * decide on an approval. Links and sign-ins have separate cookies. Mount it before the rest of `/auth`.
 */
export function answerPageRoutes({ connect, ...deps }: AnswerDeps): Surface {
  const parts = createPageParts(deps, ANSWER_COOKIE);
  const owners = connect === undefined || !hasAnswerPage(connect) ? undefined : createParts(connect);
  return {
    routes: [
      showRoute(parts, owners),
      ...LINK_PAGES.map((one) => pageRoute(parts, one)),
      ...(owners === undefined ? [] : OWNER_PAGES.map((one) => pageRoute(owners, leadingToInbox(one)))),
    ],
    below: { path: PAGES, missing: missingPage(parts) },
  };
}

/** The same route, whose final pages link a signed-in person to the inbox. */
function leadingToInbox({ handle, ...route }: PageRoute<Parts>): PageRoute<Parts> {
  return { ...route, handle: async (parts, visit) => withInbox(await handle(parts, visit)) };
}

function withInbox(reply: PageReply): PageReply {
  if (reply.type !== 'page') return reply;
  const { view } = reply;
  const isEnd = view.page === 'answer-ended' || view.page === 'approval-ended';
  return isEnd ? { ...reply, view: { ...view, toInbox: true } } : reply;
}

/** True if owners can sign in on the answer page. */
export function hasAnswerPage({ identity }: Pick<AuthPagesDeps, 'identity'>): boolean {
  return identity.type !== 'bound';
}

/** `GET /auth/answer/:id`: shows the question or approval to the browser that opened its link, or to its owner. Only reads. */
function showRoute(parts: LinkParts, owners: Parts | undefined): Route {
  return route<undefined, undefined, Browser>({
    ...SHOW,
    readsOnly: true,
    proof: { by: 'session', read: (head) => parts.cookie.read(head) },
    async handle({ head, caller, params }) {
      const visit = readVisit(parts, { head, caller, params });
      const pages = isApprovalId(visit.param) ? APPROVAL_PAGES : QUESTION_PAGES;
      const shown = await pages.byLink(parts, visit);
      const view = shown.type === 'page' ? shown.view : undefined;
      const isEntry = view?.page === 'answer-entry';
      if (owners === undefined || (!isEntry && view?.page !== 'not-found'))
        return replyOf(parts, visit, shown);
      const own = readVisit(owners, { head, caller: owners.cookie.read(head), params });
      const isAwaited = !isEntry || own.query.has(SIGN_IN) || !(await parts.links.isIssued(visit.param));
      if (isAwaited || (await pages.isOwner(owners, own)))
        return replyOf(owners, own, withInbox(await pages.byOwner(withRequestId(owners, head), own)));
      const signInPath = `${answerPath(visit.param)}?${SIGN_IN}`;
      return replyOf(parts, visit, page({ ...view, signInPath }));
    },
    refuse: (error, { head, caller = parts.cookie.read(head) }) =>
      replyOf(parts, readVisit(parts, { head, caller }), errorAnswer(error, head.requestId)),
  });
}
