import type { FamilyTypes, RowOf } from '@parley/core/domain/family';
import { bucketOf, isSameOwner } from '@parley/core/domain/ids';
import type { PageRequest } from '../../ports/elicitations/elicitations.ts';
import { elicitationKeyPrefix, historyKey, inboxKey } from '../client/keys.ts';
import type { Script } from '../client/script.ts';
import { rowOf } from '../records/row-codec.ts';

// Limits the time for which one script blocks Redis to about 2 ms.
const EXAMINED_MAX = 500;

/** One page of rows. The caller knows to which families they belong. */
interface RowPage<Row> {
  readonly rows: readonly Row[];
  readonly nextCursor?: string;
  readonly now: number;
}

interface PageScope extends Omit<PageRequest<FamilyTypes>, 'statuses'> {
  /** The prefix of the ids to list; empty for all. */
  readonly idPrefix: string;
  readonly statuses?: readonly string[] | undefined;
  /** The owner's sets that can contain the rows. */
  readonly sets: { readonly open: boolean; readonly ended: boolean };
}

/** Lists an owner's records with page.lua, newest first, with as many calls as the filter needs. */
export async function readPage<T extends FamilyTypes>(
  pageScript: Script,
  bytesMax: number,
  scope: PageScope,
): Promise<RowPage<RowOf<T>>> {
  let { cursor } = scope;
  for (;;) {
    const page = await readOnce<T>(pageScript, bytesMax, {
      ...scope,
      ...(cursor !== undefined && { cursor }),
    });
    // None of the examined records matched; matching rows may be older.
    if (page.rows.length > 0 || page.nextCursor === undefined) return page;
    cursor = page.nextCursor;
  }
}

async function readOnce<T extends FamilyTypes>(
  pageScript: Script,
  bytesMax: number,
  { owner, sets, statuses, conversationId = '', cursor, limit, idPrefix }: PageScope,
): Promise<RowPage<RowOf<T>>> {
  const keys = [...(sets.open ? [inboxKey(owner)] : []), ...(sets.ended ? [historyKey(owner)] : [])];
  const [now, nextCursor, ...found] = (await pageScript(keys, [
    elicitationKeyPrefix(bucketOf(owner)),
    limit,
    bytesMax,
    EXAMINED_MAX,
    ...parseCursor(cursor),
    conversationId,
    idPrefix,
    ...(statuses ?? []),
  ])) as [number, string, ...unknown[][]];
  const rows = found
    .map(([id, ...fields]) => rowOf<T>(String(id), fields))
    .filter((row) => row !== undefined)
    .filter((row) => isSameOwner(row.definition, owner));
  return { rows, now: Number(now), ...(nextCursor !== '' && { nextCursor }) };
}

/** Time and id of the last row of the page before; two empty texts for the first page. */
function parseCursor(cursor: string | undefined): [createdAt: string, id: string] {
  if (cursor === undefined) return ['', ''];
  const dot = cursor.indexOf('.');
  return [cursor.slice(0, dot), cursor.slice(dot + 1)];
}
