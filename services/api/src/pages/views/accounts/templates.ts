/** The templates of the accounts pages. The texts are in the string tables, the data is in `view.ts`. */

import { ACCOUNTS_PATH } from '../../../accounts/own-pages.ts';
import { type Html, html } from '../../kit/html.ts';
import type { Template } from '../../kit/layout.ts';
import {
  actions,
  buttonForm,
  buttonLink,
  facts,
  name,
  ownPath,
  paragraph,
  plain,
  scopeList,
} from '../parts.ts';
import type { PageStrings } from '../strings-en.ts';
import type { PageView, ShownAccount } from '../view.ts';
import type { AccountStrings } from './strings-en.ts';

type AccountView<Page extends PageView['page']> = Extract<PageView, { page: Page }>;

/** All accounts of the person. */
export function accountsTemplate(
  view: AccountView<'accounts'>,
  { accounts: strings }: PageStrings,
): Template {
  const { accounts, person, signOut } = view;
  return {
    status: 200,
    title: plain(strings.title),
    icon: 'link',
    body: html`${accountList(accounts, strings)}
${facts([[strings.person, name(person)]])}
${actions(buttonForm(signOut, strings.signOut, 'plain'))}`,
  };
}

/** Only the accounts, each under a heading of the second level. */
function accountList(accounts: readonly ShownAccount[], strings: AccountStrings): Html {
  if (accounts.length === 0) return paragraph(strings.empty, 'lead');
  const heading = (service: string) => html`<h2>${name(service)}</h2>`;
  return html`${paragraph(strings.lead, 'lead')}
<ul class="items">${accounts.map((account) => accountItem(account, strings, heading))}</ul>`;
}

/** An account, with a link to disconnect it. */
export function accountItem(
  account: ShownAccount,
  strings: AccountStrings,
  heading: (service: string) => Html,
): Html {
  const { service, state, savedAt, scopes, renews, managed } = account;
  return html`<li>${heading(service)}
${facts([
  [strings.state, plain(managed && state === 'connected' ? strings.managed : strings.states[state])],
  savedAt === undefined ? undefined : [strings.savedAt, plain(strings.day(savedAt))],
  scopes.length === 0 ? undefined : [strings.scopes, scopeList(scopes)],
  renews === undefined ? undefined : [strings.renewal, plain(renews ? strings.renews : strings.endsByItself)],
])}
<a class="button plain" href="${ownPath(account.disconnect)}" aria-label="${strings.disconnectNamed(service)}">${strings.disconnect}</a></li>`;
}

/** Asks for confirmation before an account is disconnected. */
export function disconnectTemplate(
  view: AccountView<'disconnect'>,
  { accounts: strings }: PageStrings,
): Template {
  const { confirm } = strings;
  const service = name(view.service);
  return {
    status: 200,
    title: confirm.title(plain(view.service)),
    heading: confirm.title(service),
    icon: 'stop',
    body: html`${paragraph(confirm.what(service), 'lead')}
${paragraph(confirm.next)}
${facts([[strings.person, name(view.person)]])}
${actions(
  buttonForm(view.proceed, confirm.proceed),
  html`<a class="button plain" href="${ACCOUNTS_PATH}">${confirm.back}</a>`,
)}`,
  };
}

/** Says that the account is disconnected, and what the service did. */
export function disconnectedTemplate(
  { service: title, revoked }: AccountView<'disconnected'>,
  { accounts: { disconnected } }: PageStrings,
): Template {
  const service = name(title);
  return {
    status: 200,
    title: disconnected.title(plain(title)),
    heading: disconnected.title(service),
    icon: revoked === 'unavailable' ? 'time' : 'good',
    body: html`${paragraph(disconnected.as[revoked ?? 'before'](service), 'lead')}
${paragraph(disconnected.next)}
${actions(buttonLink(ACCOUNTS_PATH, disconnected.back))}`,
  };
}

/** The link to these pages. */
export function accountsLink({ accounts: { link } }: PageStrings): Html {
  return html`<p><a href="${ACCOUNTS_PATH}">${link}</a></p>`;
}
