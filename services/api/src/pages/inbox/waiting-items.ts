import { rankOfRisk } from '@parley/core/domain/approvals/risk';
import { titleOfServer, titleOfTool } from '@parley/core/domain/approvals/tool-title';
import { askerOf } from '@parley/core/domain/elicitations/asker';
import type { Owner } from '@parley/core/domain/ids';
import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import type { Row } from '@parley/shared/domain/elicitations/row';
import type { Engine } from '@parley/shared/elicitations/engine';
import {
  answerPath,
  connectPath,
  FROM_INBOX,
  groupPath,
  INBOX_PATH,
  isOnOurPage,
} from '../../accounts/own-pages.ts';
import type { ShownWaiting } from '../views/inbox/view.ts';
import { groupIdOf, readOpenRecords } from './open-records.ts';

interface WaitingDeps {
  readonly engine: Pick<Engine, 'openRecords'>;
  readonly publicUrl: string;
}

/** The records that wait for a person. */
interface WaitingList {
  readonly waiting: readonly ShownWaiting[];
  /** Present if there are older records than the page shows. */
  readonly hasOlder?: true;
}

/**
 * Reads the records that wait for a person. The highest risk comes first; among equal risks, the earliest deadline. Equal calls
 * form one item.
 */
export async function readWaiting({ engine, publicUrl }: WaitingDeps, owner: Owner): Promise<WaitingList> {
  const { records, now, hasOlder } = await readOpenRecords({ engine }, owner);
  const items: ShownWaiting[] = [];
  const groups = new Map<string, ApprovalRow[]>();
  for (const { family, row } of records) {
    if (family === 'elicitation') {
      items.push(questionItem(row, now, publicUrl));
      continue;
    }
    const groupId = groupIdOf(row);
    if (groupId === undefined) items.push(approvalItem(row, now));
    else groups.set(groupId, [...(groups.get(groupId) ?? []), row]);
  }
  for (const [groupId, rows] of groups) {
    const [first] = rows;
    if (first === undefined) continue;
    const item = approvalItem(first, now);
    const leftMs = Math.min(...rows.map(({ expiresAt }) => expiresAt - now));
    items.push(rows.length === 1 ? item : { ...item, leftMs, count: rows.length, path: groupPath(groupId) });
  }
  return {
    waiting: items.sort(
      (one, other) => rankOfRisk(one.risk) - rankOfRisk(other.risk) || one.leftMs - other.leftMs,
    ),
    ...(hasOlder && { hasOlder: true }),
  };
}

/** The path of the call or group that the person decides next; the path of the inbox if none waits. */
export async function nextPath(deps: WaitingDeps, owner: Owner): Promise<string> {
  const { waiting } = await readWaiting(deps, owner);
  return waiting.find(({ about }) => about === 'approval')?.path ?? INBOX_PATH;
}

function questionItem(row: Row, now: number, publicUrl: string): ShownWaiting {
  const { title, message, risk } = row.definition;
  return {
    about: 'question',
    key: row.id,
    agent: askerOf(row.definition),
    ...(risk !== undefined && { risk }),
    ...(title !== undefined && { title }),
    message,
    leftMs: row.expiresAt - now,
    path: isOnOurPage(publicUrl, row) ? connectPath(row.id) : answerPath(row.id),
  };
}

function approvalItem({ id, definition, expiresAt }: ApprovalRow, now: number) {
  const { agent, tool, risk } = definition;
  return {
    about: 'approval',
    key: groupIdOf({ definition }) ?? id,
    agent,
    tool: titleOfTool(tool),
    server: titleOfServer(tool),
    ...(risk !== undefined && { risk }),
    leftMs: expiresAt - now,
    path: `${answerPath(id)}?${FROM_INBOX}`,
  } as const;
}
