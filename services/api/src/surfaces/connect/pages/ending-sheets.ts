import { type Html, html } from './html.ts';
import type { Sheet } from './layout.ts';
import type { Mark } from './marks.ts';
import type { Notice } from './notice.ts';
import { actions, buttonForm, buttonLink, code, paragraph, plain } from './parts.ts';
import type { FailureReason, PageStrings } from './strings.ts';
import type { ConnectView } from './view.ts';

type EndingView<Page extends ConnectView['page']> = Extract<ConnectView, { page: Page }>;

const UNAVAILABLE_RETRY_SECONDS = 5;
const SECONDS_SHOWN_MAX = 90;

// No 502 and 504: proxies put pages of their own in place of ours.
const STATUS_OF_FAILURE: Readonly<Record<FailureReason, number>> = {
  consent_refused: 200,
  provider_error: 400,
  bad_state: 400,
  bad_issuer: 400,
  rejected_key: 422,
  unavailable: 503,
  'sign-in': 400,
};

/** What happened, what to do next, and what else there is to do. */
export function noticeSheet(status: number, mark: Mark, notice: Notice, rest?: Html): Sheet {
  return {
    status,
    title: plain(notice.title),
    mark,
    body: html`${paragraph(notice.what, 'lead')}
${paragraph(notice.next)}
${rest}`,
  };
}

/** Another person is signed in. */
export function mismatchSheet({ about, signOut }: EndingView<'mismatch'>, strings: PageStrings): Sheet {
  const { mismatch, answer } = strings;
  const rest =
    signOut === undefined
      ? paragraph(mismatch.noSignOut)
      : actions(buttonForm(signOut, mismatch.signOut, 'plain'));
  return noticeSheet(403, 'stop', about === 'answer' ? answer.mismatch : mismatch, rest);
}

/** There is nothing behind the link, or nothing for this person. */
export function notFoundSheet(
  { signOut }: EndingView<'not-found'>,
  { notFound, mismatch }: PageStrings,
): Sheet {
  const rest = signOut && actions(buttonForm(signOut, mismatch.signOut, 'plain'));
  return noticeSheet(404, 'fault', notFound, rest);
}

/** Nothing was connected, and why. */
export function failedSheet(view: EndingView<'failed'>, { failed, common }: PageStrings): Sheet {
  const mark = view.reason === 'consent_refused' ? 'ended' : 'fault';
  const rest = html`${retryOf(view.retry, common)}
${view.providerError === undefined ? undefined : paragraph(common.providerSaid(code(view.providerError)), 'quiet')}
${supportOf(view.requestId, common)}`;
  return noticeSheet(STATUS_OF_FAILURE[view.reason], mark, failed[view.reason], rest);
}

/** A form that did not come from our page. */
export function refusedSheet(view: EndingView<'refused'>, { refused, common }: PageStrings): Sheet {
  return noticeSheet(403, 'stop', refused, retryOf(view.retry, common));
}

/** Later, please. */
export function tooManySheet({ retryAfterSeconds }: EndingView<'too-many'>, { tooMany }: PageStrings): Sheet {
  const seconds = Math.max(1, Math.ceil(retryAfterSeconds));
  const next =
    seconds <= SECONDS_SHOWN_MAX
      ? tooMany.waitSeconds(seconds)
      : tooMany.waitMinutes(Math.ceil(seconds / 60));
  return { ...noticeSheet(429, 'time', { ...tooMany, next }), retryAfterSeconds: seconds };
}

/** We cannot, just now. */
export function unavailableSheet(
  view: EndingView<'unavailable'>,
  { unavailable, common }: PageStrings,
): Sheet {
  return {
    ...noticeSheet(503, 'fault', unavailable, supportOf(view.requestId, common)),
    retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS,
  };
}

function retryOf(retry: string | undefined, common: PageStrings['common']): Html {
  return retry === undefined ? paragraph(common.startAgain) : actions(buttonLink(retry, common.tryAgain));
}

function supportOf(requestId: string, common: PageStrings['common']): Html {
  return paragraph(common.forSupport(code(requestId)), 'quiet');
}
