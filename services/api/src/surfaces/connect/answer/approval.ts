import type { ApprovalInput } from '@parley/shared/domain/approvals/response-input';
import { APPROVAL_STATUSES, isApprovalEnded } from '@parley/shared/domain/approvals/status';
import { titleOfServer, titleOfTool } from '@parley/shared/domain/approvals/tool-title';
import type { ApprovalTypes } from '@parley/shared/domain/approvals/types';
import { isParleyError } from '@parley/shared/domain/errors';
import { isApprovalId } from '@parley/shared/domain/ids';
import { plainBreaks } from '@parley/shared/domain/text';
import type { SeenRecord } from '@parley/shared/elicitations/records/read';
import { signInView } from '../handlers/access.ts';
import { readForm } from '../handlers/form.ts';
import type { Parts } from '../handlers/parts.ts';
import { counted } from '../handlers/sign-in.ts';
import { buildFormTarget, type PageReply, page, single, type Visit } from '../handlers/visit.ts';
import type { Person } from '../identity/identity.ts';
import { answerPath } from '../own-pages.ts';
import { FORM_FIELDS } from '../pages/fields.ts';
import type { ConnectView } from '../pages/view.ts';
import { BY_OWNER } from './by-owner.ts';

type SeenApproval = SeenRecord<ApprovalTypes>;

/** An approval, and the person whose it is; or the page for everybody else. */
type FoundApproval =
  | { readonly seen: SeenApproval; readonly person: Person }
  | {
      readonly view: ConnectView;
      /** A person is signed in who has no such approval. */
      readonly isMissing?: true;
    };

/** `GET /auth/answer/:id` of an approval: the call, for the signed-in person who decides. Reads only. */
export async function showApproval(parts: Parts, visit: Visit): Promise<PageReply> {
  const found = await findApproval(parts, visit);
  return page('view' in found ? found.view : viewOf(visit, found));
}

/** `POST /auth/answer/:id/approve`. */
export function approve(parts: Parts, visit: Visit): Promise<PageReply> {
  return decide(parts, visit, (fields) => ({
    decision: 'approve',
    ...(fields.has(FORM_FIELDS.remember) && { remember: true }),
  }));
}

/** `POST /auth/answer/:id/deny`. */
export function deny(parts: Parts, visit: Visit): Promise<PageReply> {
  return decide(parts, visit, (fields) => {
    const reason = plainBreaks(single(fields, FORM_FIELDS.reason) ?? '').trim();
    return { decision: 'deny', ...(reason !== '' && { reason }) };
  });
}

/** What is unknown and what is another person's look the same, also before the sign-in. */
async function findApproval(parts: Parts, visit: Visit): Promise<FoundApproval> {
  const { param: id, browser } = visit;
  if (!isApprovalId(id)) return { view: { page: 'not-found' } };
  const person = await parts.sessions.person(browser);
  if (person === undefined) return { view: signInView(parts, visit, { about: 'answer', elicitationId: id }) };
  try {
    return { seen: await parts.engine.approvals.read(callerOf(person), id), person };
  } catch (error) {
    if (!isParleyError(error, 'not_found')) throw error;
    const signOut = buildFormTarget(browser, `${answerPath(id)}/sign-out`);
    return { view: { page: 'not-found', signOut }, isMissing: true };
  }
}

async function decide(
  parts: Parts,
  visit: Visit,
  responseIn: (fields: URLSearchParams) => ApprovalInput,
): Promise<PageReply> {
  const { param: id } = visit;
  const form = await readForm(parts, visit, answerPath(id));
  if ('view' in form) return page(form.view);
  const found = await findApproval(parts, visit);
  if ('view' in found)
    return page((found.isMissing === true ? await counted(parts, visit) : undefined) ?? found.view);
  const caller = callerOf(found.person);
  await parts.callLimits.call(caller, true);
  await parts.callLimits.answer(caller, id);
  const response = responseIn(form.fields);
  const { approvals } = parts.engine;
  try {
    const { row } = await approvals.decide({ caller, id, response, surface: BY_OWNER.surface });
    return page(endedView(row));
  } catch (error) {
    if (isParleyError(error, 'already_settled') || isParleyError(error, 'expired'))
      return page(endedView((await approvals.read(caller, id)).row, 'late'));
    // Of what our forms send, only a reason is ever refused.
    if (isParleyError(error, 'invalid_request')) return page(viewOf(visit, found, response.reason));
    throw error;
  }
}

function callerOf({ tenant, userId }: Person) {
  return { kind: 'user', tenant, userId } as const;
}

/**
 * The page of an approval that has ended, whatever a row says whose deadline nobody has noticed yet. `late`: after a decision
 * that was not recorded.
 */
function endedView({ status }: SeenApproval['row'], late?: 'late'): ConnectView {
  // A newer build may end approvals in ways for which this one has no words.
  if (!APPROVAL_STATUSES.includes(status))
    return { page: 'answer-ended', ended: 'settled', ...(late && { late: true }) };
  const ended = isApprovalEnded(status) ? status : 'expired';
  return { page: 'approval-ended', ended, ...(late && { late: true }) };
}

/** `refusedReason`: the reason of a denial that was not taken. */
function viewOf(
  { browser }: Visit,
  { seen: { row, now }, person }: Extract<FoundApproval, { person: Person }>,
  refusedReason?: string,
): ConnectView {
  if (isApprovalEnded(row.status) || now >= row.expiresAt) return endedView(row);
  const { agent, tool, arguments: args, masked, remember, inputSchema } = row.definition;
  const { name, hints } = tool;
  const path = answerPath(row.id);
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
    person: person.name,
    ...(remember !== undefined && { remember }),
    ...(inputSchema !== undefined && { canEdit: true }),
    ...(refusedReason !== undefined && { reason: refusedReason }),
    leftMs: row.expiresAt - now,
    approve: buildFormTarget(browser, `${path}/approve`),
    deny: buildFormTarget(browser, `${path}/deny`),
  };
}
