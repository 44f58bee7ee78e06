import type { FamilyTypes, RowOf } from '@parley/core/domain/family';
import { jsonBytes } from '../../domain/json/bytes.ts';
import type { PageRequest } from '../../ports/elicitations/elicitations.ts';

interface MemoryPage<Row> {
  readonly rows: readonly Row[];
  readonly nextCursor?: string;
  readonly now: number;
}

/** Selects the requested page of an owner's rows. */
export function pageOf<Row extends RowOf<FamilyTypes>>(
  owned: readonly Row[],
  request: PageRequest<FamilyTypes>,
  bytesMax: number,
): MemoryPage<Row> {
  const now = Date.now();
  const sorted = owned.filter(matching(request)).sort(newestFirst);
  const rows = firstOf(sorted, request.limit, bytesMax);
  const last = rows.at(-1);
  if (last === undefined || sorted.length === rows.length) return { rows, now };
  return { rows, now, nextCursor: `${last.createdAt}.${last.id}` };
}

/** The first rows within the limits of a page, and always at least one. */
function firstOf<Row extends RowOf<FamilyTypes>>(
  rows: readonly Row[],
  limit: number,
  bytesMax: number,
): Row[] {
  const page: Row[] = [];
  let bytes = 0;
  for (const row of rows.slice(0, limit)) {
    bytes += jsonBytes(row.definition) + (row.settlement === undefined ? 0 : jsonBytes(row.settlement));
    if (page.length > 0 && bytes > bytesMax) break;
    page.push(row);
  }
  return page;
}

export function newestFirst(a: RowOf<FamilyTypes>, b: RowOf<FamilyTypes>): number {
  if (a.createdAt !== b.createdAt) return b.createdAt - a.createdAt;
  return a.id < b.id ? 1 : -1;
}

function matching({
  statuses,
  conversationId,
  cursor,
}: PageRequest<FamilyTypes>): (row: RowOf<FamilyTypes>) => boolean {
  const [, createdAt, id = ''] = /^(\d+)\.(.+)$/.exec(cursor ?? '') ?? [];
  return (row) => {
    if (statuses !== undefined && !statuses.includes(row.status)) return false;
    if (conversationId !== undefined && row.definition.conversationId !== conversationId) return false;
    if (createdAt === undefined) return true;
    return row.createdAt < Number(createdAt) || (row.createdAt === Number(createdAt) && row.id < id);
  };
}
