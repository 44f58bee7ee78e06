import type { ListPlace, ListSliceRequest, TenantLists } from '@parley/shared/ports/tenant-lists';

// A page reads so many rows at most. Where few of them match, it is short and has a cursor.
const EXAMINED_MAX = 200;
const CHUNK = 50;

/** Which page of a list is read, and which of its items are kept. */
export interface AdminPageRequest<Item> {
  readonly slice: Omit<ListSliceRequest, 'after' | 'limit'>;
  readonly after?: ListPlace | undefined;
  readonly limit: number;
  /** Reads what is listed; undefined for what is gone. */
  readonly load: (
    members: readonly string[],
    places: readonly ListPlace[],
  ) => Promise<readonly (Item | undefined)[]>;
  readonly hasEnded: (item: Item) => boolean;
  readonly keeps: (item: Item) => boolean;
}

interface AdminPage<Item> {
  readonly items: readonly Item[];
  /** The place behind which the next page begins; absent on the last page. */
  readonly next?: ListPlace;
}

/** One page of a list of a tenant. The rows are the truth: a place that does not agree with its row is mended and left out. */
export async function readAdminPage<Item>(
  lists: Pick<TenantLists, 'slice' | 'mend'>,
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
