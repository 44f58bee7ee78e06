import type { RecordCache } from './cache.ts';
import type { OpenPage } from './calls.ts';
import { type Refusal, toRefusal } from './refusal.ts';

/** For this many records or more, one list costs less than single reads. */
const LIST_FROM = 6;

/** One kind of record: its cache, and how to read it. */
export interface Source<Item> {
  readonly cache: RecordCache<Item>;
  readonly idOf: (item: Item) => string;
  readonly read: (id: string, signal?: AbortSignal) => Promise<Item>;
  readonly listOpen: (cursor: string | undefined, signal: AbortSignal) => Promise<OpenPage<Item>>;
}

/**
 * Reads everything that is followed once, and also the list of open records if an inbox is shown. Never rejects; resolves with
 * the refusal of the first failed call.
 */
export async function poll<Item>(
  source: Source<Item>,
  isLive: () => boolean,
  signal: AbortSignal,
): Promise<Refusal | undefined> {
  const { cache } = source;
  let ids = cache.openIds();
  try {
    if (cache.hasInbox() || ids.length >= LIST_FROM) ids = await pollList(source, isLive, signal);
    for (const id of ids) await pollOne(source, id, signal);
    return undefined;
  } catch (error) {
    return toRefusal(error);
  }
}

/** Reads one record into the cache, or removes it there if the server does not know it. */
export async function pollOne<Item>({ cache, read }: Source<Item>, id: string, signal: AbortSignal) {
  try {
    cache.update(await read(id, signal));
  } catch (error) {
    const refusal = toRefusal(error);
    if (refusal.code !== 'not_found') throw refusal;
    cache.remove(id);
  }
}

/** Reads the list of open records. Returns the followed ids that are not in it. */
async function pollList<Item>(
  { cache, idOf, listOpen }: Source<Item>,
  isLive: () => boolean,
  signal: AbortSignal,
): Promise<string[]> {
  const found: Item[] = [];
  let cursor: string | undefined;
  do {
    const page = await listOpen(cursor, signal);
    found.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  // While the event stream is live, the list may be older than the last event, so it is merged.
  if (!isLive()) return cache.replaceOpen(found);
  for (const one of found) cache.update(one);
  const listed = new Set(found.map(idOf));
  return cache.openIds().filter((id) => !listed.has(id));
}
