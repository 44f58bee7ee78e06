import type { Row } from '../../domain/elicitations/row.ts';
import { isTerminal, STATUSES } from '../../domain/elicitations/status.ts';
import type { ElicitationPage, Elicitations, PageRequest } from '../../ports/elicitations/elicitations.ts';
import type { Commands } from '../client/connect.ts';
import { historyKey, inboxKey } from '../client/keys.ts';
import { orUnavailable } from '../client/unavailable.ts';

export interface PageDeps {
  readonly redis: Commands;
  readonly readMany: Elicitations['readMany'];
  readonly onError: ((error: unknown) => void) | undefined;
}

/** Where an elicitation stands in an owner's list: newest first, ties by id. */
interface ListPlace {
  readonly createdAt: number;
  readonly id: string;
}

const CHUNK = 100;

/** Lists an owner's elicitations newest first, merging open and ended ones. */
export async function readPage(deps: PageDeps, request: PageRequest): Promise<ElicitationPage> {
  const rows: Row[] = [];
  let cursor = request.cursor === undefined ? undefined : parsePlace(request.cursor);
  for (;;) {
    const { places, exhausted } = await nextPlaces(deps, request, cursor);
    const read = await deps.readMany(places.map(({ id }) => id));
    const matching = places.flatMap((place, index) => {
      const row = read.rows[index];
      return row !== undefined && matches(row, request) ? [{ place, row }] : [];
    });
    const taken = matching.slice(0, request.limit - rows.length);
    rows.push(...taken.map(({ row }) => row));
    if (exhausted && taken.length === matching.length) return { rows, now: read.now };
    const last = rows.length === request.limit ? taken.at(-1)?.place : undefined;
    if (last !== undefined) return { rows, now: read.now, nextCursor: formatPlace(last) };
    cursor = places.at(-1);
  }
}

/** The next places of the list, as far as both sets are known without a hole. */
async function nextPlaces(deps: PageDeps, request: PageRequest, cursor: ListPlace | undefined) {
  const statuses = request.statuses ?? STATUSES;
  const keys: string[] = [];
  if (statuses.some((status) => !isTerminal(status))) keys.push(inboxKey(request.owner));
  if (statuses.some(isTerminal)) keys.push(historyKey(request.owner));
  const found = new Map<string, ListPlace>();
  let floor: ListPlace | undefined;
  // The inbox first: what settles in between then shows in the history, at worst in both.
  for (const key of keys) {
    const { places, more } = await slice(deps, key, cursor);
    for (const place of places) found.set(place.id, place);
    const last = places.at(-1);
    if (more && last !== undefined && (floor === undefined || newestFirst(last, floor) < 0)) floor = last;
  }
  const places = [...found.values()].sort(newestFirst);
  if (floor === undefined) return { places, exhausted: true };
  const bound = floor;
  return {
    places: places.filter((place) => newestFirst(place, bound) <= 0),
    exhausted: false,
  };
}

async function slice({ redis, onError }: PageDeps, key: string, cursor: ListPlace | undefined) {
  const from = cursor === undefined ? '+inf' : cursor.createdAt;
  for (let offset = 0; ; offset += CHUNK) {
    const flat = await orUnavailable(
      () => redis.zrange(key, from, '-inf', 'BYSCORE', 'REV', 'LIMIT', offset, CHUNK, 'WITHSCORES'),
      onError,
    );
    const places: ListPlace[] = [];
    for (let index = 0; index + 1 < flat.length; index += 2) {
      const place = {
        id: String(flat[index]),
        createdAt: Number(flat[index + 1]),
      };
      if (cursor === undefined || newestFirst(cursor, place) < 0) places.push(place);
    }
    const more = flat.length === 2 * CHUNK;
    // A whole chunk may tie with the cursor and lie before it.
    if (places.length > 0 || !more) return { places, more };
  }
}

function newestFirst(a: ListPlace, b: ListPlace): number {
  if (a.createdAt !== b.createdAt) return b.createdAt - a.createdAt;
  if (a.id === b.id) return 0;
  return a.id < b.id ? 1 : -1;
}

function matches(row: Row, { statuses, conversationId, owner }: PageRequest): boolean {
  if (row.definition.tenant !== owner.tenant || row.definition.userId !== owner.userId) return false;
  if (statuses !== undefined && !statuses.includes(row.status)) return false;
  return conversationId === undefined || row.definition.conversationId === conversationId;
}

function formatPlace({ createdAt, id }: ListPlace): string {
  return `${createdAt}.${id}`;
}

function parsePlace(cursor: string): ListPlace {
  const dot = cursor.indexOf('.');
  return { createdAt: Number(cursor.slice(0, dot)), id: cursor.slice(dot + 1) };
}
