import type { EndedApprovalStatus } from '@parley/core/domain/approvals/status';
import { REASON_CHARACTERS_MAX } from '@parley/shared/domain/approvals/response-input';
import { FORM_FIELDS } from '../../kit/fields.ts';
import { type Html, html } from '../../kit/html.ts';
import type { Icon } from '../../kit/icons.ts';
import type { Template } from '../../kit/layout.ts';
import { inboxLink } from '../asker.ts';
import { lateTemplate, noticeTemplate } from '../ending-templates.ts';
import { actions, code, facts, form, name, paragraph, plain } from '../parts.ts';
import type { PageStrings } from '../strings-en.ts';
import type { PageView } from '../view.ts';
import { argumentList } from './arguments.ts';
import { traitsBox } from './traits.ts';

type ApprovalView<Page extends PageView['page']> = Extract<PageView, { page: Page }>;

const APPROVE_ID = 'approve';
const DENY_ID = 'deny';

const ENDINGS: Readonly<Record<EndedApprovalStatus, { readonly status: number; readonly icon: Icon }>> = {
  approved: { status: 200, icon: 'good' },
  edited: { status: 200, icon: 'good' },
  denied: { status: 200, icon: 'ended' },
  expired: { status: 410, icon: 'time' },
  withdrawn: { status: 409, icon: 'ended' },
};

/** Asks whether the agent may make this call. */
export function approvalTemplate(view: ApprovalView<'approval'>, strings: PageStrings): Template {
  const { approval, asking, common } = strings;
  const { agent, tool } = view;
  const isFaulty = view.reason !== undefined;
  const title = approval.title(plain(agent), plain(tool.title));
  return {
    status: isFaulty ? 422 : 200,
    title: html`${isFaulty ? `${common.fault}: ` : ''}${title}`,
    heading: approval.title(html`<bdi>${agent}</bdi>`, html`<bdi>${tool.title}</bdi>`),
    icon: 'question',
    body: html`${facts([
      [approval.tool, html`${name(tool.server)} · ${code(tool.name)}`],
      view.risk === undefined ? undefined : [approval.risk, plain(approval.risks[view.risk])],
      view.person === undefined ? undefined : [asking.person, name(view.person)],
    ])}
${traitsBox(tool.hints, strings)}
<h2>${approval.arguments}</h2>
${argumentList(view, approval)}
${isFaulty ? html`<p class="box bad" role="alert" id="reason-fault">${approval.reasonFault}</p>` : undefined}
${form(view.approve, html`${rememberField(view, strings)}`, APPROVE_ID)}
${form(view.deny, reasonField(view, strings), DENY_ID)}
${actions(
  html`<button form="${APPROVE_ID}">${approval.approve}</button>`,
  html`<button form="${DENY_ID}" class="plain">${approval.deny}</button>`,
)}
${paragraph(approval.timeLeft(view.leftMs), 'quiet')}
${view.canEdit === true ? paragraph(approval.editElsewhere, 'quiet') : undefined}`,
  };
}

/** How the call ended. If a decision came too late, the page says so. */
export function approvalEndedTemplate(
  { ended, late, toInbox }: ApprovalView<'approval-ended'>,
  strings: PageStrings,
): Template {
  const { status, icon } = ENDINGS[ended];
  const { approval } = strings;
  const notice = approval.ended[ended];
  const rest = toInbox && inboxLink(strings);
  return late === true
    ? lateTemplate(status, icon, notice, { late: approval.late, rest })
    : noticeTemplate(status, icon, notice, rest);
}

function rememberField({ remember }: ApprovalView<'approval'>, { approval }: PageStrings): Html | undefined {
  if (remember === undefined) return undefined;
  return html`<div class="field"><label class="choice"><input type="checkbox" name="${FORM_FIELDS.remember}" aria-describedby="remember-help"> ${approval.rememberFor(remember)}</label>
<p class="help" id="remember-help">${approval.rememberHelp}</p></div>
`;
}

function reasonField({ reason }: ApprovalView<'approval'>, { approval }: PageStrings): Html {
  const fault = html` aria-invalid="true"`;
  return html`<div class="field"><label for="reason">${approval.reason}</label>
<p class="help" id="reason-help">${approval.reasonHelp}</p>
<textarea id="reason" name="${FORM_FIELDS.reason}" rows="2" dir="auto" maxlength="${REASON_CHARACTERS_MAX}" aria-describedby="${reason === undefined ? '' : 'reason-fault '}reason-help"${reason === undefined ? undefined : fault}>\n${reason}</textarea></div>
`;
}
