/** Reads one page of a tenant's list, and mends the list where it contradicts its rows. The routes are in `list-routes.ts`. */

import type { Caller } from '@parley/shared/domain/caller';
import type { ListedKind, ListPlace, ListSliceRequest, TenantLists } from '@parley/shared/ports/tenant-lists';
import { cursorsOf } from './cursor.ts';
import type { ExportedList } from './exports.ts';
import type { ListFormat } from './query.ts';

// The maximum number of rows that a page reads. If few of them match, the page is short and has a cursor.
const EXAMINED_MAX = 200;
const CHUNK = 50;

/** The page of a list to read, and the items to keep. */
interface AdminPageRequest<Item> {
  readonly slice: Omit<ListSliceRequest, 'after' | 'limit'>;
  readonly after?: ListPlace | undefined;
  readonly limit: number;
  /** Reads the listed items; undefined for those that no longer exist. */
  readonly load: (
    members: readonly string[],
    places: readonly ListPlace[],
  ) => Promise<readonly (Item | undefined)[]>;
  readonly hasEnded: (item: Item) => boolean;
  readonly keeps: (item: Item) => boolean;
}

interface AdminPage<Item> {
  readonly items: readonly Item[];
  /** The place after which the next page begins; absent on the last page. */
  readonly next?: ListPlace;
}

/** The source of a list's places. */
type ListPlaces = Pick<TenantLists, 'slice' | 'mend'>;

/** Reads one page of a tenant's list. The rows are the truth: a place that contradicts its row is mended and omitted. */
export async function readAdminPage<Item>(
  lists: ListPlaces,
  { slice, after: from, limit, load, hasEnded, keeps }: AdminPageRequest<Item>,
): Promise<AdminPage<Item>> {
  const items: Item[] = [];
  let after = from;
  for (let examined = 0; examined < EXAMINED_MAX; examined += CHUNK) {
    const request = { ...slice, limit: CHUNK, ...(after !== undefined && { after }) };
    const places = await lists.slice(request);
    const found = await load(
      places.map(({ member }) => member),
      places,
    );
    const isRight = (item: Item | undefined): item is Item =>
      item !== undefined && hasEnded(item) === (slice.state === 'ended');
    const wrong = places.filter((_, at) => !isRight(found[at]));
    await Promise.all(wrong.map(({ member }) => lists.mend(slice.tenant, slice.kind, member)));
    for (const [at, place] of places.entries()) {
      const item = found[at];
      after = place;
      if (!isRight(item) || !keeps(item)) continue;
      items.push(item);
      const isLast = at === places.length - 1 && places.length < CHUNK;
      if (items.length === limit) return isLast ? { items } : { items, next: place };
    }
    if (places.length < CHUNK) return { items };
  }
  return { items, ...(after !== undefined && { next: after }) };
}

/** The options that every list has. */
export interface ListQuery {
  readonly state: 'open' | 'ended';
  readonly order: 'newest' | 'oldest';
  readonly olderThanSeconds?: number | undefined;
  readonly youngerThanSeconds?: number | undefined;
  readonly userId?: string | undefined;
  readonly conversationId?: string | undefined;
  readonly streamRequestId?: string | undefined;
  readonly format?: ListFormat | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

interface ListedItems<Item> extends Pick<AdminPageRequest<Item>, 'load' | 'hasEnded' | 'keeps'> {
  readonly kind: ListedKind;
  /** The bucket of all items, if they are in a single one. */
  readonly bucket?: number | undefined;
  readonly viewOf: (item: Item) => Readonly<Record<string, unknown>>;
}

/** Reads the pages of the list that a query describes. */
export function pagesOf<Item>(
  lists: ListPlaces,
  { tenant }: Caller,
  query: ListQuery,
  { kind, bucket, viewOf, ...of }: ListedItems<Item>,
): ExportedList['page'] {
  const { cursor: _cursor, limit: _limit, format: _format, ...list } = query;
  const cursors = cursorsOf({ ...list, tenant, kind });
  const { state, order, userId, olderThanSeconds, youngerThanSeconds } = list;
  const slice = {
    tenant,
    kind,
    state,
    order,
    ...(userId !== undefined && { userId }),
    ...(bucket !== undefined && { bucket }),
    ...(olderThanSeconds !== undefined && { minAgeMs: olderThanSeconds * 1_000 }),
    ...(youngerThanSeconds !== undefined && { maxAgeMs: youngerThanSeconds * 1_000 }),
  };
  return async (cursor, limit) => {
    const after = cursor === undefined ? undefined : cursors.parse(cursor);
    const { items, next } = await readAdminPage(lists, { ...of, slice, after, limit });
    return { views: items.map(viewOf), ...(next !== undefined && { nextCursor: cursors.format(next) }) };
  };
}
