import { FORM_FIELDS } from '../../kit/fields.ts';
import { type Html, html } from '../../kit/html.ts';
import type { Template } from '../../kit/layout.ts';
import { argumentList } from '../approval/arguments.ts';
import { traitsBox } from '../approval/traits.ts';
import { code, facts, form, name, ownPath, paragraph, plain } from '../parts.ts';
import type { PageStrings } from '../strings-en.ts';
import { livePage } from './live.ts';
import type { GroupView } from './view.ts';

/** Asks whether the agent may make these calls. */
export function groupTemplate(view: GroupView, strings: PageStrings): Template {
  const { approval, asking, common, inbox } = strings;
  const { group } = inbox;
  const { agent, tool, calls, risk, fault } = view;
  const count = plain(String(calls.length));
  const content = html`${facts([
    [approval.tool, html`${name(tool.server)} · ${code(tool.name)}`],
    risk === undefined ? undefined : [approval.risk, plain(approval.risks[risk])],
    [asking.person, name(view.person)],
  ])}
${traitsBox(tool.hints, strings)}
${fault === undefined ? undefined : html`<p class="box bad" role="alert">${group.noneChosen}</p>`}
${paragraph(group.lead)}
${form(
  view.decide,
  html`<input type="hidden" name="${FORM_FIELDS.shown}" value="${count}">
${choiceOf(view, strings)}
${sameOf(view, strings)}
<h2>${group.differing}</h2>
<ol class="items">${calls.map((call, at) => callItem(call, String(at + 1), strings))}</ol>`,
)}
${view.hasMore === true ? paragraph(group.more, 'box warn') : undefined}
${paragraph(approval.timeLeft(view.leftMs), 'quiet')}`;
  return {
    status: fault === undefined ? 200 : 422,
    title: html`${fault === undefined ? '' : `${common.fault}: `}${inbox.groupTitle(plain(agent), plain(tool.title), count)}`,
    heading: inbox.groupTitle(html`<bdi>${agent}</bdi>`, html`<bdi>${tool.title}</bdi>`, count),
    icon: 'question',
    ...livePage(
      { kind: 'group', path: view.path, isPartial: view.hasOlder === true || view.hasMore === true, content },
      strings,
    ),
  };
}

/** The buttons stay visible above the calls, and come first by keyboard. */
function choiceOf({ denyPath }: GroupView, { inbox: { group } }: PageStrings): Html {
  return html`<div class="actions sticky"><button>${group.approve}</button>
<button class="plain" formaction="${ownPath(denyPath)}">${group.deny}</button></div>`;
}

function sameOf({ same }: GroupView, { approval, inbox: { group } }: PageStrings): Html | undefined {
  if (Object.keys(same).length === 0) return undefined;
  return html`<h2>${group.same}</h2>
${argumentList({ arguments: same, masked: [] }, approval)}`;
}

function callItem(
  call: GroupView['calls'][number],
  number: string,
  { approval, inbox: { group } }: PageStrings,
): Html {
  return html`<li data-key="${call.id}"><label class="choice"><input type="checkbox" name="${FORM_FIELDS.call}" value="${call.id}" checked> ${group.call(number)}</label>
${Object.keys(call.arguments).length === 0 ? undefined : argumentList(call, approval)}</li>`;
}
