/** The templates of pages that report an end or an error. Pages that ask for something are in `asking-templates.ts`. */

import { type Html, html } from '../kit/html.ts';
import type { Icon } from '../kit/icons.ts';
import type { Template } from '../kit/layout.ts';
import type { Notice } from '../kit/notice.ts';
import { actions, buttonForm, buttonLink, code, paragraph, plain } from './parts.ts';
import type { PageStrings } from './strings-en.ts';
import type { PageView } from './view.ts';

type EndingView<Page extends PageView['page']> = Extract<PageView, { page: Page }>;

type FailureReason = EndingView<'failed'>['reason'];

const UNAVAILABLE_RETRY_SECONDS = 5;
const SECONDS_SHOWN_MAX = 90;

// The statuses 502 and 504 are not used, because proxies replace such pages with their own.
const STATUS_OF_FAILURE: Readonly<Record<FailureReason, number>> = {
  consent_refused: 200,
  provider_error: 400,
  bad_state: 400,
  bad_issuer: 400,
  rejected_key: 422,
  unavailable: 503,
  'sign-in': 400,
};

/** A page that says what happened, what to do next, and what else can be done. */
export function noticeTemplate(status: number, icon: Icon, notice: Notice, rest?: Html): Template {
  return {
    status,
    title: plain(notice.title),
    icon,
    body: html`${paragraph(notice.what, 'lead')}
${paragraph(notice.next)}
${rest}`,
  };
}

/** Says how the record ended, for a person who acted too late. */
export function lateTemplate(
  status: number,
  icon: Icon,
  notice: Notice,
  { late, rest }: { readonly late: string; readonly rest: Html | undefined },
): Template {
  const shown = noticeTemplate(status === 200 ? 409 : status, icon === 'good' ? 'ended' : icon, notice, rest);
  return {
    ...shown,
    body: html`${paragraph(late, 'box warn')}
${shown.body}`,
  };
}

/** The page for a person other than the owner. */
export function mismatchTemplate({ about, signOut }: EndingView<'mismatch'>, strings: PageStrings): Template {
  const { mismatch, answer } = strings;
  const rest =
    signOut === undefined
      ? paragraph(mismatch.noSignOut)
      : actions(buttonForm(signOut, mismatch.signOut, 'plain'));
  return noticeTemplate(403, 'stop', about === 'answer' ? answer.mismatch : mismatch, rest);
}

/** The page for a link that does not exist or is not for this person. */
export function notFoundTemplate(
  { signOut }: EndingView<'not-found'>,
  { notFound, mismatch }: PageStrings,
): Template {
  const rest = signOut && actions(buttonForm(signOut, mismatch.signOut, 'plain'));
  return noticeTemplate(404, 'fault', notFound, rest);
}

/** Says that nothing was connected, and why. */
export function failedTemplate(view: EndingView<'failed'>, { failed, common }: PageStrings): Template {
  const icon = view.reason === 'consent_refused' ? 'ended' : 'fault';
  const rest = html`${retryOf(view.retry, common)}
${view.providerError === undefined ? undefined : paragraph(common.providerSaid(code(view.providerError)), 'quiet')}
${supportOf(view.requestId, common)}`;
  return noticeTemplate(STATUS_OF_FAILURE[view.reason], icon, failed[view.reason], rest);
}

/** The page for a form that did not come from Parley's page. */
export function refusedTemplate(view: EndingView<'refused'>, { refused, common }: PageStrings): Template {
  return noticeTemplate(403, 'stop', refused, retryOf(view.retry, common));
}

/** Asks the person to try again later, after too many attempts. */
export function tooManyTemplate(
  { retryAfterSeconds }: EndingView<'too-many'>,
  { tooMany }: PageStrings,
): Template {
  const seconds = Math.max(1, Math.ceil(retryAfterSeconds));
  const next =
    seconds <= SECONDS_SHOWN_MAX
      ? tooMany.waitSeconds(seconds)
      : tooMany.waitMinutes(Math.ceil(seconds / 60));
  return { ...noticeTemplate(429, 'time', { ...tooMany, next }), retryAfterSeconds: seconds };
}

/** Says that Parley cannot answer at present. */
export function unavailableTemplate(
  view: EndingView<'unavailable'>,
  { unavailable, common }: PageStrings,
): Template {
  return {
    ...noticeTemplate(503, 'fault', unavailable, supportOf(view.requestId, common)),
    retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS,
  };
}

function retryOf(retry: string | undefined, common: PageStrings['common']): Html {
  return retry === undefined ? paragraph(common.startAgain) : actions(buttonLink(retry, common.tryAgain));
}

function supportOf(requestId: string, common: PageStrings['common']): Html {
  return paragraph(common.forSupport(code(requestId)), 'quiet');
}
