import type { Row } from '../domain/elicitations/row.ts';
import type { ElicitationPage, PageRequest } from '../ports/elicitations/elicitations.ts';
import { jsonBytes } from './json-bytes.ts';

/** One page of an owner's rows; its bytes are bounded, but its first row is on it in any case. */
export function pageOf(
  rows: readonly Row[],
  request: PageRequest,
  bytesMax: number,
): Omit<ElicitationPage, 'now'> {
  const sorted = rows.filter(matching(request)).sort(newestFirst);
  const page = firstOf(sorted, request.limit, bytesMax);
  const last = page.at(-1);
  if (last === undefined || sorted.length === page.length) return { rows: page };
  return { rows: page, nextCursor: cursorOf(last) };
}

function firstOf(rows: readonly Row[], limit: number, bytesMax: number): Row[] {
  const page: Row[] = [];
  let bytes = 0;
  for (const row of rows.slice(0, limit)) {
    bytes += jsonBytes(row.definition) + (row.settlement === undefined ? 0 : jsonBytes(row.settlement));
    if (page.length > 0 && bytes > bytesMax) break;
    page.push(row);
  }
  return page;
}

export function newestFirst(a: Row, b: Row): number {
  if (a.createdAt !== b.createdAt) return b.createdAt - a.createdAt;
  return a.id < b.id ? 1 : -1;
}

function cursorOf(row: Row): string {
  return `${row.createdAt}.${row.id}`;
}

function matching({ statuses, conversationId, cursor }: PageRequest): (row: Row) => boolean {
  const [, createdAt, id = ''] = /^(\d+)\.(.+)$/.exec(cursor ?? '') ?? [];
  return (row) => {
    if (statuses !== undefined && !statuses.includes(row.status)) return false;
    if (conversationId !== undefined && row.definition.conversationId !== conversationId) return false;
    if (createdAt === undefined) return true;
    return row.createdAt < Number(createdAt) || (row.createdAt === Number(createdAt) && row.id < id);
  };
}
