/**
 * The handlers of an approval's page, for every entrance. Who may enter is decided in `by-link.ts` and `approval-by-owner.ts`,
 * the HTML is in `pages/views`.
 */

import { APPROVAL_STATUSES, isApprovalEnded } from '@parley/core/domain/approvals/status';
import { titleOfServer, titleOfTool } from '@parley/core/domain/approvals/tool-title';
import { isParleyError } from '@parley/core/domain/errors';
import type { Owner } from '@parley/core/domain/ids';
import { plainBreaks } from '@parley/core/domain/text';
import type { ApprovalInput } from '@parley/shared/domain/approvals/response-input';
import type { ApprovalTypes } from '@parley/shared/domain/approvals/types';
import type { SeenRecord } from '@parley/shared/records/read';
import { answerPath, FROM_INBOX } from '../../accounts/own-pages.ts';
import { FORM_FIELDS } from '../kit/fields.ts';
import { countFailure } from '../serving/attempts.ts';
import { readForm } from '../serving/form.ts';
import { buildFormTarget, type PageReply, page, single, type Visit } from '../serving/visit.ts';
import type { PageView } from '../views/view.ts';
import type { AnsweringParts } from './question.ts';

/** The dependencies of an approval's page, for every entrance. */
export type ApprovalParts = AnsweringParts<'approvals'>;

/** An approval that is shown to a browser which may decide. */
interface OpenedApproval {
  readonly seen: SeenRecord<ApprovalTypes>;
  /** The name of the person who decides, from the sign-in; absent for a browser that came through a link. */
  readonly person?: string;
}

/** An approval; or the page for a browser that may not see it. */
export type FoundApproval =
  | OpenedApproval
  | {
      readonly view: PageView;
      /** Present if the signed-in person has no such approval. */
      readonly isMissing?: true;
    };

/** How a browser reaches an approval: through its link, or through the sign-in of the person who decides. */
export interface ApprovalEntrance<Parts extends ApprovalParts> {
  /** The surface that is recorded with a decision. */
  readonly surface: string;
  /** True if a decision can be remembered for further calls. */
  readonly remembers: boolean;
  /** Finds what this visitor may see, without writing anything. */
  find(parts: Parts, visit: Visit): Promise<FoundApproval>;
  /** The path of the visitor's next decision, after this one is recorded. Undefined to show the page about this decision. */
  next?(parts: Parts, visit: Visit, owner: Owner): Promise<string | undefined>;
  /** The path below which the approval's forms are. */
  pathOf(approvalId: string): string;
}

/** The handlers for the browsers of one entrance. */
interface ApprovalHandlers<Parts> {
  /** Shows the result of the entrance's `find`. */
  show(visit: Visit, found: FoundApproval): PageReply;
  approve(parts: Parts, visit: Visit): Promise<PageReply>;
  deny(parts: Parts, visit: Visit): Promise<PageReply>;
}

/** Makes the handlers for one entrance. */
export function approvalHandlers<Parts extends ApprovalParts>(
  entrance: ApprovalEntrance<Parts>,
): ApprovalHandlers<Parts> {
  return {
    show: (visit, found) => page('view' in found ? found.view : viewOf(entrance, visit, found)),
    approve: (parts, visit) =>
      decide(entrance, parts, visit, (fields) => ({
        decision: 'approve',
        ...(entrance.remembers && fields.has(FORM_FIELDS.remember) && { remember: true }),
      })),
    deny: (parts, visit) =>
      decide(entrance, parts, visit, (fields) => {
        const reason = plainBreaks(single(fields, FORM_FIELDS.reason) ?? '').trim();
        return { decision: 'deny', ...(reason !== '' && { reason }) };
      }),
  };
}

async function decide<Parts extends ApprovalParts>(
  entrance: ApprovalEntrance<Parts>,
  parts: Parts,
  visit: Visit,
  responseIn: (fields: URLSearchParams) => ApprovalInput,
): Promise<PageReply> {
  const { param: id } = visit;
  const form = await readForm(parts, visit, answerPath(id));
  if ('view' in form) return page(form.view);
  const found = await entrance.find(parts, visit);
  if ('view' in found)
    return page((found.isMissing === true ? await countFailure(parts, visit) : undefined) ?? found.view);
  const { tenant, userId } = found.seen.row.definition;
  const caller = { kind: 'user', tenant, userId } as const;
  await parts.callLimits.call(caller, true);
  await parts.callLimits.answer(caller, id);
  const response = responseIn(form.fields);
  const { approvals } = parts.engine;
  try {
    const { row } = await approvals.decide({ caller, id, response, surface: entrance.surface });
    const next = await entrance.next?.(parts, visit, caller);
    return next === undefined ? page(endedView(row)) : { type: 'moved', path: next };
  } catch (error) {
    if (isParleyError(error, 'already_settled') || isParleyError(error, 'expired'))
      return page(endedView((await approvals.read(caller, id)).row, 'late'));
    // Only the reason in the form can be invalid.
    if (isParleyError(error, 'invalid_request')) return page(viewOf(entrance, visit, found, response.reason));
    throw error;
  }
}

/**
 * The page of an approval that has ended. An approval past its deadline counts as expired, even if its row says otherwise.
 * `late`: a decision was made afterwards and not recorded.
 */
function endedView({ status }: SeenRecord<ApprovalTypes>['row'], late?: 'late'): PageView {
  const isLate = late !== undefined && ({ late: true } as const);
  // A newer build may end approvals in ways that this build does not know.
  if (!APPROVAL_STATUSES.includes(status)) return { page: 'answer-ended', ended: 'settled', ...isLate };
  const ended = isApprovalEnded(status) ? status : 'expired';
  return { page: 'approval-ended', ended, ...isLate };
}

/** `refusedReason`: the invalid reason of a denial. */
function viewOf(
  { pathOf, remembers, next }: Pick<ApprovalEntrance<never>, 'pathOf' | 'remembers' | 'next'>,
  { browser, query }: Visit,
  { seen: { row, now }, person }: OpenedApproval,
  refusedReason?: string,
): PageView {
  if (isApprovalEnded(row.status) || now >= row.expiresAt) return endedView(row);
  const { agent, tool, arguments: args, masked, remember, risk, inputSchema } = row.definition;
  const { name, hints } = tool;
  const path = pathOf(row.id);
  const from = next !== undefined && query.has(FROM_INBOX) ? `?${FROM_INBOX}` : '';
  return {
    page: 'approval',
    agent,
    tool: {
      server: titleOfServer(tool),
      name,
      title: titleOfTool(tool),
      ...(hints !== undefined && { hints }),
    },
    arguments: args,
    masked,
    ...(person !== undefined && { person }),
    ...(remembers && remember !== undefined && { remember }),
    ...(risk !== undefined && { risk }),
    ...(inputSchema !== undefined && { canEdit: true }),
    ...(refusedReason !== undefined && { reason: refusedReason }),
    leftMs: row.expiresAt - now,
    approve: buildFormTarget(browser, `${path}/approve${from}`),
    deny: buildFormTarget(browser, `${path}/deny${from}`),
  };
}
