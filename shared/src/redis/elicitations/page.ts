import type { Row } from '../../domain/elicitations/row.ts';
import { isTerminal } from '../../domain/elicitations/status.ts';
import { bucketOf } from '../../domain/ids.ts';
import type { ElicitationPage, PageRequest } from '../../ports/elicitations/elicitations.ts';
import { elicitationKeyPrefix, historyKey, inboxKey } from '../client/keys.ts';
import type { Script } from '../client/script.ts';
import { rowOf } from './row-codec.ts';

// Bounds the time for which one script occupies Redis: to about 2 ms.
const EXAMINED_MAX = 500;

/** Lists an owner's elicitations newest first, open and ended ones, by page.lua: one call for a page. */
export async function readPage(
  pageScript: Script,
  bytesMax: number,
  request: PageRequest,
): Promise<ElicitationPage> {
  let { cursor } = request;
  for (;;) {
    const page = await readOnce(pageScript, bytesMax, {
      ...request,
      ...(cursor !== undefined && { cursor }),
    });
    // Nothing among those that were examined: the rows that are asked for may lie further back.
    if (page.rows.length > 0 || page.nextCursor === undefined) return page;
    cursor = page.nextCursor;
  }
}

async function readOnce(
  pageScript: Script,
  bytesMax: number,
  { owner, statuses, conversationId = '', cursor, limit }: PageRequest,
): Promise<ElicitationPage> {
  const keys = [
    ...(statuses === undefined || !statuses.every(isTerminal) ? [inboxKey(owner)] : []),
    ...(statuses === undefined || statuses.some(isTerminal) ? [historyKey(owner)] : []),
  ];
  const [now, nextCursor, ...found] = (await pageScript(keys, [
    elicitationKeyPrefix(bucketOf(owner)),
    limit,
    bytesMax,
    EXAMINED_MAX,
    ...parseCursor(cursor),
    conversationId,
    ...(statuses ?? []),
  ])) as [number, string, ...unknown[][]];
  const rows = found
    .map(([id, ...fields]) => rowOf(String(id), fields))
    .filter((row) => row !== undefined)
    .filter((row) => isOwnedBy(row, owner));
  return { rows, now: Number(now), ...(nextCursor !== '' && { nextCursor }) };
}

function isOwnedBy({ definition }: Row, { tenant, userId }: PageRequest['owner']): boolean {
  return definition.tenant === tenant && definition.userId === userId;
}

/** Time and id of the last row of the page before; two empty texts for the first page. */
function parseCursor(cursor: string | undefined): [createdAt: string, id: string] {
  if (cursor === undefined) return ['', ''];
  const dot = cursor.indexOf('.');
  return [cursor.slice(0, dot), cursor.slice(dot + 1)];
}
