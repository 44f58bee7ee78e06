/** The template of the inbox. Keeping it up to date is in `live-script.ts`, the data is in `view.ts`. */

import type { Risk } from '@parley/core/domain/approvals/risk';
import { INBOX_PATH } from '../../../accounts/own-pages.ts';
import { type Html, html } from '../../kit/html.ts';
import type { Template } from '../../kit/layout.ts';
import { accountItem } from '../accounts/templates.ts';
import { askerOf } from '../asker.ts';
import { actions, buttonForm, buttonLink, facts, form, name, ownPath, paragraph, plain } from '../parts.ts';
import type { PageStrings } from '../strings-en.ts';
import type { PageView } from '../view.ts';
import { livePage } from './live.ts';
import type { ShownGrant, ShownWaiting } from './view.ts';

// How much of its message names a question without a title, for screen readers.
const HEARD_CHARACTERS_MAX = 80;

/** Everything that waits for the person, the remembered approvals, and the accounts. */
export function inboxTemplate(view: Extract<PageView, { page: 'inbox' }>, strings: PageStrings): Template {
  const { inbox, asking, accounts } = strings;
  const heading = (service: string) => html`<h3>${name(service)}</h3>`;
  const isPartial = view.hasOlder === true;
  const records = view.waiting.reduce((sum, item) => sum + countOf(item), 0);
  const count = `${records}${isPartial ? '+' : ''}`;
  const content = html`${facts([[asking.person, name(view.person)]])}
${section(
  'waiting',
  inbox.waiting,
  html`<p class="quiet" role="status">${records === 0 ? inbox.empty : inbox.counted(count)}</p>
<ul class="items">${view.waiting.map((item) => waitingItem(item, strings))}</ul>
${isPartial ? paragraph(inbox.older, 'box warn') : undefined}
${actions(buttonLink(INBOX_PATH, inbox.again, 'plain'))}`,
)}
${section(
  'remembered',
  inbox.remembered,
  html`${view.remembered.length > 0 ? paragraph(inbox.rememberedLead) : undefined}
${listOf(
  view.remembered.map((grant) => grantItem(grant, strings)),
  inbox.rememberedEmpty,
)}`,
)}
${section(
  'accounts',
  inbox.accounts,
  html`${view.accounts.length > 0 ? paragraph(accounts.lead) : undefined}
${listOf(
  view.accounts.map((account) => accountItem(account, accounts, heading)),
  accounts.empty,
)}`,
)}
${actions(buttonForm(view.signOut, accounts.signOut, 'plain'))}`;
  return {
    status: 200,
    title: html`${records === 0 ? undefined : `(${count}) `}${inbox.title}`,
    heading: plain(inbox.title),
    icon: 'inbox',
    ...livePage({ kind: 'inbox', path: INBOX_PATH, isPartial, content }, strings),
  };
}

function countOf(item: ShownWaiting): number {
  return item.about === 'approval' ? (item.count ?? 1) : 1;
}

function section(id: string, title: string, content: Html): Html {
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${content}</section>`;
}

function listOf(items: readonly Html[], empty: string): Html {
  return items.length === 0 ? paragraph(empty, 'quiet') : html`<ul class="items">${items}</ul>`;
}

function waitingItem(item: ShownWaiting, strings: PageStrings): Html {
  const { inbox, approval } = strings;
  const left = paragraph(inbox.timeLeft(item.leftMs), 'quiet');
  if (item.about === 'approval') {
    const { key, agent, tool, server, risk, count, path } = item;
    const [by, of] = [html`<bdi>${agent}</bdi>`, html`<bdi>${tool}</bdi>`];
    const { group } = inbox;
    const link =
      count === undefined
        ? itemLink(path, inbox.decide, inbox.decideNamed(tool))
        : itemLink(path, group.decide, group.decideNamed(tool));
    return html`<li data-key="${key}"><h3>${count === undefined ? approval.title(by, of) : inbox.groupTitle(by, of, plain(String(count)))}</h3>
${paragraph(name(server))}
${riskLine(risk, strings)}
${left}
${link}</li>`;
  }
  const { key, title, message, risk, path } = item;
  const { askerFirst } = askerOf(item, strings);
  return html`<li data-key="${key}"><h3>${title === undefined ? askerFirst : html`<bdi>${title}</bdi>`}</h3>
${title === undefined ? undefined : paragraph(askerFirst, 'quiet')}
<p class="clip" dir="auto">${message}</p>
${riskLine(risk, strings)}
${left}
${itemLink(path, inbox.answer, inbox.answerNamed(title ?? heardOf(message)))}</li>`;
}

function riskLine(risk: Risk | undefined, { approval }: PageStrings): Html | undefined {
  if (risk === undefined) return undefined;
  return paragraph(`${approval.risk}: ${approval.risks[risk]}`, risk === 'high' ? 'box warn' : 'quiet');
}

/** The beginning of a message, without splitting a character. */
function heardOf(message: string): string {
  return [...message].slice(0, HEARD_CHARACTERS_MAX).join('');
}

function itemLink(path: string, label: string, heard: string): Html {
  return html`<a class="button" href="${ownPath(path)}" aria-label="${heard}">${label}</a>`;
}

function grantItem(
  { agent, tool, server, until, forget }: ShownGrant,
  { inbox, accounts }: PageStrings,
): Html {
  const scope = until === undefined ? inbox.inConversation : inbox.until(accounts.day(until));
  const button = html`<button class="plain" aria-label="${inbox.forgetNamed(tool)}">${inbox.forget}</button>`;
  return html`<li><h3><bdi>${tool}</bdi></h3>
<p class="quiet"><bdi>${agent}</bdi> · <bdi>${server}</bdi> · ${scope}</p>
${form(forget, button)}</li>`;
}
