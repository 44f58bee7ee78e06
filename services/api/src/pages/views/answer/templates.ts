/** The templates of the answer page. The controls are in `controls.ts`, the texts in the string tables. */

import { FORM_FIELDS } from '../../kit/fields.ts';
import { type Html, html } from '../../kit/html.ts';
import type { Icon } from '../../kit/icons.ts';
import type { Template } from '../../kit/layout.ts';
import { inboxLink, wordsOf } from '../asker.ts';
import { lateTemplate, noticeTemplate } from '../ending-templates.ts';
import {
  actions,
  buttonForm,
  buttonLink,
  facts,
  form,
  hostOf,
  looksLikeAnother,
  name,
  originBox,
  paragraph,
  plain,
} from '../parts.ts';
import type { PageStrings } from '../strings-en.ts';
import type { PageView } from '../view.ts';
import { controlOf } from './controls.ts';
import type { AnsweredAs } from './strings.ts';

type AnswerView<Page extends PageView['page']> = Extract<PageView, { page: Page }>;

const FORM_ID = 'answer';

// The secret of a link is in its fragment, which browsers do not send. Only this script moves it into the form and removes it
// from the address bar.
const TAKE_TOKEN = html`
const field = document.getElementById('token');
if (location.hash.length > 1) {
  field.value = location.hash.slice(1);
  field.parentElement.hidden = true;
  history.replaceState(null, '', location.pathname);
}
`;

/** The page for an opened answer link. It shows nothing of the question yet, because mail scanners open links too. */
export function answerEntryTemplate(
  { enter, about, signInPath }: AnswerView<'answer-entry'>,
  { answer, approval }: PageStrings,
): Template {
  const entry = about === 'approval' ? { ...answer.entry, ...approval.entry } : answer.entry;
  const field = html`<div class="field"><label for="token">${entry.label}</label>
<p class="help" id="token-help">${entry.help}</p>
<input id="token" name="${FORM_FIELDS.token}" required autocomplete="off" autocapitalize="none" spellcheck="false" dir="ltr" aria-describedby="token-help"></div>
<button>${entry.button}</button>`;
  return {
    status: 200,
    title: plain(entry.title),
    icon: 'question',
    script: TAKE_TOKEN,
    body: html`${paragraph(entry.lead, 'lead')}
${form(enter, field)}
${signInPath === undefined ? undefined : actions(buttonLink(signInPath, entry.signIn, 'plain'))}`,
  };
}

const ENDINGS: Readonly<Record<AnsweredAs, { readonly status: number; readonly icon: Icon }>> = {
  answered: { status: 200, icon: 'good' },
  declined: { status: 200, icon: 'ended' },
  expired: { status: 410, icon: 'time' },
  settled: { status: 409, icon: 'ended' },
};

/** How the question ended. If an answer came too late, the page says so. */
export function answerEndedTemplate(
  { ended, late, toInbox }: AnswerView<'answer-ended'>,
  strings: PageStrings,
): Template {
  const { status, icon } = ENDINGS[ended];
  const { answer } = strings;
  const notice = answer.ended[ended];
  const rest = toInbox && inboxLink(strings);
  return late === true
    ? lateTemplate(status, icon, notice, { late: answer.late, rest })
    : noticeTemplate(status, icon, notice, rest);
}

/** The question, with the controls for an answer. */
export function answerTemplate(view: AnswerView<'answer'>, strings: PageStrings): Template {
  const { answer, approval, asking, common, consent } = strings;
  const { origin } = view;
  const hasFaults = view.fields.some(({ fault }) => fault !== undefined);
  const heading = view.title ?? answer.title;
  return {
    status: hasFaults ? 422 : 200,
    title: html`${hasFaults ? `${common.fault}: ` : ''}${heading}`,
    heading: html`<bdi>${heading}</bdi>`,
    icon: 'question',
    body: html`${wordsOf(view.asking, strings)}
${view.description === undefined ? undefined : paragraph(html`<bdi>${view.description}</bdi>`)}
${facts([
  view.risk === undefined ? undefined : [approval.risk, plain(approval.risks[view.risk])],
  view.person === undefined ? undefined : [asking.person, name(view.person)],
  origin === undefined ? undefined : [answer.opens, originBox(origin)],
])}
${origin !== undefined && looksLikeAnother(origin) ? paragraph(consent.lookAlike, 'box warn') : undefined}
${hasFaults ? html`<p class="box bad" role="alert">${answer.faults}</p>` : undefined}
${form(view.proceed, html`${view.fields.map((field) => controlOf(field, answer))}`, FORM_ID)}
${actions(
  html`<button form="${FORM_ID}">${sendLabel(origin, strings)}</button>`,
  buttonForm(view.decline, asking.decline, 'plain'),
)}
${paragraph(answer.timeLeft(view.leftMs), 'quiet')}`,
  };
}

function sendLabel(origin: string | undefined, { answer }: PageStrings): Html | string {
  if (origin === undefined) return answer.send;
  return answer.proceedTo(html`<bdi dir="ltr">${hostOf(origin) ?? origin}</bdi>`);
}
