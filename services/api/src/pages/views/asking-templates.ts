/**
 * The templates of pages that ask the person to act: sign-in, consent, secret. Pages that report an end are in
 * `ending-templates.ts`.
 */

import { FORM_FIELDS } from '../kit/fields.ts';
import { type Html, html } from '../kit/html.ts';
import type { Template } from '../kit/layout.ts';
import { askerOf, wordsOf } from './asker.ts';
import {
  actions,
  buttonForm,
  facts,
  form,
  hostOf,
  looksLikeAnother,
  name,
  originBox,
  paragraph,
  plain,
  scopeList,
} from './parts.ts';
import type { PageStrings } from './strings-en.ts';
import type { PageView } from './view.ts';

type AskingView<Page extends PageView['page']> = Extract<PageView, { page: Page }>;

const USER_ID_LENGTH_MAX = 255;
const PROCEED_ID = 'proceed';

/** The page on which a person must sign in first. */
export function signInTemplate(view: AskingView<'sign-in'>, strings: PageStrings): Template {
  const { signIn, accounts, answer, approval, inbox, link } = strings;
  const why = {
    accounts: accounts.signInWhy,
    console: strings.console.signInWhy,
    inbox: inbox.signInWhy,
    answer: answer.signInWhy,
    approval: approval.signInWhy,
    link: link.signInWhy,
    connect: signIn.why,
  };
  return {
    status: 200,
    title: plain(signIn.title),
    icon: 'person',
    body: html`${paragraph(why[view.leadsTo ?? 'connect'], 'lead')}
${paragraph(signIn.where(name(view.organisation)))}
${actions(buttonForm(view.signIn, signIn.button))}`,
  };
}

/** Development only: the page on which a person types a user id. */
export function devSignInTemplate(
  view: AskingView<'dev-sign-in'>,
  { devSignIn, accounts, inbox, console }: PageStrings,
): Template {
  const helps: Partial<Record<NonNullable<typeof view.leadsTo>, string>> = {
    accounts: accounts.devSignInHelp,
    inbox: inbox.devSignInHelp,
    console: console.devSignInHelp,
  };
  const help = (view.leadsTo && helps[view.leadsTo]) ?? devSignIn.help;
  const field = html`<label for="user">${devSignIn.label}</label>
<p class="help" id="user-help">${help}</p>
<input id="user" name="${FORM_FIELDS.user}" required maxlength="${USER_ID_LENGTH_MAX}" autocapitalize="none" spellcheck="false" aria-describedby="user-help">
<button>${devSignIn.button}</button>`;
  return {
    status: 200,
    title: plain(devSignIn.title),
    icon: 'person',
    body: html`${paragraph(devSignIn.warning, 'box warn')}
${form(view.signIn, field)}`,
  };
}

/** Asks whether the agent may use the person's account at a service. */
export function consentTemplate(view: AskingView<'consent'>, strings: PageStrings): Template {
  const { consent, asking } = strings;
  const { service } = view.asking;
  const { asker, askerFirst } = askerOf(view.asking, strings);
  const host = view.origin === undefined ? undefined : hostOf(view.origin);
  const origin = view.origin === undefined ? consent.originLater(name(service)) : originBox(view.origin);
  return {
    status: 200,
    title: consent.title(plain(service)),
    heading: consent.title(name(service)),
    icon: 'link',
    body: html`${paragraph(consent.lead(askerFirst, name(service)), 'lead')}
${wordsOf(view.asking, strings)}
${facts([
  personRow(view.person, strings),
  [consent.origin, origin],
  [consent.scopes, view.scopes.length > 0 ? scopeList(view.scopes) : plain(consent.scopesLater)],
])}
${view.origin !== undefined && looksLikeAnother(view.origin) ? paragraph(consent.lookAlike, 'box warn') : undefined}
${paragraph(consent.steps(name(service)))}
${laterOf(view.person, strings)}
${actions(
  buttonForm(view.proceed, host === undefined ? consent.proceed : consent.proceedTo(hostName(host))),
  buttonForm(view.decline, asking.decline, 'plain'),
)}
${paragraph(asking.afterDecline(asker), 'quiet')}`,
  };
}

/** Asks for the key, or for the secret that the agent requested. */
export function secretTemplate(view: AskingView<'secret'>, strings: PageStrings): Template {
  const { asking, secret } = strings;
  const { service } = view.asking;
  const { asker, askerFirst } = askerOf(view.asking, strings);
  const once = view.onceFor;
  const titleOf = (around: (text: string) => Html) =>
    once === undefined ? secret.title(around(service)) : secret.onceTitle(around(view.field.label));
  return {
    status: view.fault === undefined ? 200 : view.fault === 'unavailable' ? 503 : 422,
    title: html`${view.fault === undefined ? '' : `${strings.common.fault}: `}${titleOf(plain)}`,
    heading: titleOf(name),
    icon: 'key',
    body: html`${paragraph(
      once === undefined
        ? secret.lead(askerFirst, name(service))
        : secret.onceLead(askerFirst, name(view.field.label)),
      'lead',
    )}
${wordsOf(view.asking, strings)}
${facts([personRow(view.person, strings)])}
${paragraph(once === undefined ? secret.kept(asker, name(service)) : secret.once(name(once), asker))}
${laterOf(view.person, strings)}
${form(view.proceed, secretField(view, strings), PROCEED_ID)}
${actions(
  html`<button form="${PROCEED_ID}">${once === undefined ? secret.proceed : secret.onceProceed}</button>`,
  buttonForm(view.decline, asking.decline, 'plain'),
)}
${paragraph(asking.afterDecline(asker), 'quiet')}`,
  };
}

function secretField({ field, fault }: AskingView<'secret'>, { secret }: PageStrings): Html {
  const described = [
    ...(fault === undefined ? [] : ['secret-fault']),
    ...(field.help === undefined ? [] : ['secret-help']),
  ];
  return html`${fault === undefined ? undefined : html`<p class="box bad" role="alert" id="secret-fault">${secret.faults[fault]}</p>\n`}<label for="secret">${field.label}</label>
${field.help === undefined ? undefined : html`<p class="help" id="secret-help">${field.help}</p>\n`}<input type="password" id="secret" name="${FORM_FIELDS.secret}" required maxlength="${field.lengthMax}" autocomplete="off" autocapitalize="none" spellcheck="false"${described.length === 0 ? undefined : html` aria-describedby="${described.join(' ')}"`}${fault === undefined ? undefined : html` aria-invalid="true" autofocus`}>
`;
}

function personRow(person: string | undefined, { asking }: PageStrings) {
  return person === undefined ? undefined : ([asking.person, name(person)] as const);
}

function laterOf(person: string | undefined, { asking }: PageStrings): Html | undefined {
  return person === undefined ? paragraph(asking.personLater) : undefined;
}

function hostName(host: string): Html {
  return html`<bdi dir="ltr">${host}</bdi>`;
}
