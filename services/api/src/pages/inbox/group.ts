/** The page on which a person decides equal calls together. Which calls are equal is decided in `open-records.ts`. */

import { pointerOf } from '@parley/core/domain/approvals/json-pointer';
import { titleOfServer, titleOfTool } from '@parley/core/domain/approvals/tool-title';
import { isParleyError } from '@parley/core/domain/errors';
import { isApprovalId, type Owner } from '@parley/core/domain/ids';
import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import { type Caller, unlessMissing } from '@parley/shared/domain/caller';
import type { DecideInput } from '@parley/shared/elicitations/approvals/decide';
import {
  ANSWER_PAGE_SURFACE,
  answerPath,
  FROM_INBOX,
  groupPath,
  INBOX_PAGE,
  INBOX_PATH,
  LIVE,
} from '../../accounts/own-pages.ts';
import type { Person } from '../identity/identity.ts';
import { FORM_FIELDS } from '../kit/fields.ts';
import { readForm } from '../serving/form.ts';
import { admitPerson } from '../serving/of-person.ts';
import type { Parts } from '../serving/parts.ts';
import { buildFormTarget, type PageReply, page, type Visit } from '../serving/visit.ts';
import type { GroupView } from '../views/inbox/view.ts';
import { groupIdOf, readOpenRecords } from './open-records.ts';
import { nextPath } from './waiting-items.ts';

/**
 * The maximum number of calls on a page, and the maximum size of their arguments: a person could not read more at one sitting.
 */
const CALLS_MAX = 50;
const BYTES_MAX = 128 * 1024;

const ENDED = ['already_settled', 'expired', 'not_found'] as const;

/** `GET /auth/inbox/groups/:id`: shows equal calls and their differences. Only reads. */
export async function showGroup(parts: Parts, visit: Visit): Promise<PageReply> {
  const admitted = await admitPerson(parts, visit, INBOX_PAGE);
  if ('view' in admitted) return page(admitted.view);
  await parts.callLimits.call({ kind: 'user', ...admitted.owner }, false);
  return groupPage(parts, visit, admitted);
}

/** `POST /auth/inbox/groups/:id/approve`. */
export function approveGroup(parts: Parts, visit: Visit): Promise<PageReply> {
  return decideGroup(parts, visit, 'approve');
}

/** `POST /auth/inbox/groups/:id/deny`. */
export function denyGroup(parts: Parts, visit: Visit): Promise<PageReply> {
  return decideGroup(parts, visit, 'deny');
}

/** Decides on each chosen call separately, with its own commit and log line. */
async function decideGroup(parts: Parts, visit: Visit, decision: 'approve' | 'deny'): Promise<PageReply> {
  const form = await readForm(parts, visit, groupPath(visit.param));
  if ('view' in form) return page(form.view);
  const admitted = await admitPerson(parts, visit, INBOX_PAGE);
  if ('view' in admitted) return page(admitted.view);
  const { owner } = admitted;
  const caller = { kind: 'user', ...owner } as const;
  const chosen = [...new Set(form.fields.getAll(FORM_FIELDS.call))].filter(isApprovalId).slice(0, CALLS_MAX);
  if (chosen.length === 0) return groupPage(parts, visit, admitted, 'none-chosen');
  // A form can name any call of its person. Calls with a high risk can only be decided on their own pages, so they are ignored
  // here.
  const rows = await Promise.all(chosen.map((id) => readOwn(parts, caller, id)));
  if (rows.some((row) => row !== undefined && groupIdOf(row) !== visit.param))
    return page({ page: 'refused', retry: INBOX_PATH });
  const recorded = await decideEach(parts, caller, chosen, decision);
  if (recorded < chosen.length) return page({ page: 'group-partly', recorded, chosen: chosen.length });
  // Calls that the person did not choose must not be shown again at once, already checked.
  const leftOut = Number(form.fields.get(FORM_FIELDS.shown)) > chosen.length;
  return { type: 'moved', path: leftOut ? INBOX_PATH : await nextPath(parts, owner) };
}

/** Returns the number of recorded decisions. Throws if the first decision fails. */
async function decideEach(
  parts: Parts,
  caller: Caller & { readonly kind: 'user' },
  ids: readonly string[],
  decision: 'approve' | 'deny',
): Promise<number> {
  let recorded = 0;
  try {
    for (const id of ids) {
      await parts.callLimits.call(caller, true, id);
      if (await decided(parts, { caller, id, response: { decision }, surface: ANSWER_PAGE_SURFACE }))
        recorded += 1;
    }
  } catch (error) {
    // Error pages say that nothing was changed, so an error is thrown only before the first decision is recorded.
    if (recorded === 0 || !isParleyError(error)) throw error;
  }
  return recorded;
}

async function readOwn({ engine }: Parts, caller: Caller, id: string): Promise<ApprovalRow | undefined> {
  return (await unlessMissing(engine.approvals.read(caller, id)))?.row;
}

/** Returns false for a call that had ended in another way. */
async function decided({ engine }: Parts, decision: DecideInput): Promise<boolean> {
  try {
    await engine.approvals.decide(decision);
    return true;
  } catch (error) {
    if (ENDED.some((code) => isParleyError(error, code))) return false;
    throw error;
  }
}

async function groupPage(
  parts: Parts,
  visit: Visit,
  { owner, person }: { readonly owner: Owner; readonly person: Person },
  fault?: 'none-chosen',
): Promise<PageReply> {
  const { records, now, hasOlder } = await readOpenRecords(parts, owner);
  // The oldest calls come first, so that a new call does not displace one that the person is reading.
  const rows = records
    .flatMap(({ family, row }) => (family === 'approval' && groupIdOf(row) === visit.param ? [row] : []))
    .reverse();
  const shown = readableOf(rows);
  const [first] = shown;
  const isUpdate = visit.query.has(LIVE);
  if (first === undefined) return { type: 'moved', path: isUpdate ? `${INBOX_PATH}?${LIVE}` : INBOX_PATH };
  if (shown.length === 1 && !isUpdate)
    return { type: 'moved', path: `${answerPath(first.id)}?${FROM_INBOX}` };
  const { agent, tool, risk } = first.definition;
  const { hints } = tool;
  const same = sameIn(shown);
  const path = groupPath(visit.param);
  const view: GroupView = {
    page: 'group',
    path,
    agent,
    tool: {
      server: titleOfServer(tool),
      name: tool.name,
      title: titleOfTool(tool),
      ...(hints !== undefined && { hints }),
    },
    person: person.name,
    ...(risk !== undefined && { risk }),
    same: Object.fromEntries(Object.entries(first.definition.arguments).filter(([name]) => same.has(name))),
    calls: shown.map(({ id, definition }) => ({
      id,
      arguments: Object.fromEntries(Object.entries(definition.arguments).filter(([name]) => !same.has(name))),
      masked: definition.masked,
    })),
    ...(shown.length < rows.length && { hasMore: true }),
    ...(hasOlder && { hasOlder }),
    leftMs: Math.min(...shown.map(({ expiresAt }) => expiresAt - now)),
    ...(fault !== undefined && { fault }),
    decide: buildFormTarget(visit.browser, `${path}/approve`),
    denyPath: `${path}/deny`,
  };
  return page(view);
}

/** As many calls as a person can read on one page, but at least one. */
function readableOf(rows: readonly ApprovalRow[]): readonly ApprovalRow[] {
  let bytes = 0;
  return rows.slice(0, CALLS_MAX).filter(({ definition }, at) => {
    bytes += Buffer.byteLength(JSON.stringify(definition.arguments));
    return at === 0 || bytes <= BYTES_MAX;
  });
}

/** The arguments that all calls share. Masked values never count as shared, because they may hide different values. */
function sameIn(rows: readonly ApprovalRow[]): ReadonlySet<string> {
  const [first, ...others] = rows.map(({ definition }) => definition);
  const names = Object.keys(first?.arguments ?? {}).filter((name) => {
    const pointer = pointerOf([name]);
    const isMasked = rows.some(({ definition }) =>
      definition.masked.some((one) => one === pointer || one.startsWith(`${pointer}/`)),
    );
    const value = JSON.stringify(first?.arguments[name]);
    return (
      !isMasked &&
      others.every(
        (one) => Object.hasOwn(one.arguments, name) && JSON.stringify(one.arguments[name]) === value,
      )
    );
  });
  return new Set(names);
}
