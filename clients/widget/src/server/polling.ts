import { isRecord } from '@parley/shared/domain/plain-record';
import { isElicitation } from '../elicitation.ts';
import type { Book } from './cache.ts';
import type { Calls } from './calls.ts';
import { Refusal } from './refusal.ts';

/** From so many on, one list costs less than single reads. */
const LIST_FROM = 6;
const WAITING = '/v1/elicitations?status=pending,opened&limit=100';

export interface LooksDeps {
  readonly calls: Calls;
  readonly book: Book;
  readonly isLive: () => boolean;
}

/**
 * Looks once at all that is followed, and at what waits when an inbox is shown. Never rejects; resolves with the
 * refusal that got in the way, if any.
 */
export async function look(deps: LooksDeps, signal: AbortSignal): Promise<Refusal | undefined> {
  const { book } = deps;
  let ids = book.open();
  try {
    if (book.hasInbox() || ids.length >= LIST_FROM) ids = await lookAtList(deps, signal);
    for (const id of ids) await lookAtOne(deps, id, signal);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** Reads one elicitation into the book; one that the server does not know is dropped there. */
export async function lookAtOne({ calls, book }: LooksDeps, elicitationId: string, signal: AbortSignal) {
  try {
    book.take(await calls.elicitation({ path: pathOf(elicitationId) }, signal));
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'not_found') throw error;
    book.drop(elicitationId);
  }
}

/** The path of an elicitation. The dots would be resolved away, and the call would reach another route. */
export function pathOf(elicitationId: string): string {
  if (/^\.{0,2}$/.test(elicitationId) || !elicitationId.isWellFormed()) {
    throw new Refusal({ status: 0, code: 'not_found' });
  }
  return `/v1/elicitations/${encodeURIComponent(elicitationId)}`;
}

async function lookAtList({ calls, book, isLive }: LooksDeps, signal: AbortSignal): Promise<string[]> {
  const found = [];
  let cursor = '';
  do {
    const reply = await calls.json({ path: WAITING + cursor }, signal);
    if (!isRecord(reply) || !Array.isArray(reply.elicitations)) {
      throw new Refusal({ status: 0, code: 'offline' });
    }
    found.push(...reply.elicitations.filter(isElicitation));
    cursor = typeof reply.nextCursor === 'string' ? `&cursor=${encodeURIComponent(reply.nextCursor)}` : '';
  } while (cursor !== '');
  // While events are live, they know better than a list that may have been read before them.
  if (!isLive()) return book.takeAll(found);
  for (const one of found) book.take(one);
  const listed = new Set(found.map((one) => one.elicitationId));
  return book.open().filter((id) => !listed.has(id));
}
