/** Replies with a page of a list, or with an export of it. What a list contains is decided by its route. */

import { setTimeout as sleep } from 'node:timers/promises';
import { isParleyError, ParleyError } from '@parley/core/domain/errors';
import { whenAborted } from '@parley/shared/async/release-on-abort';
import type { Caller } from '@parley/shared/domain/caller';
import { acceptsType } from '../../http/headers/accept.ts';
import type { Reply, RouteCall } from '../../http/route.ts';
import { csvRecord } from './csv.ts';
import { EXPORT_ROWS_MAX, type ListFormat, PAGE_MAX } from './query.ts';

/**
 * The maximum number of pages that one export reads. If few rows match, the export ends with a cursor before it has its maximum
 * number of rows.
 */
const PAGES_MAX = 1_000;
/** The maximum number of simultaneous exports of one key or operator on a pod. */
const EXPORTS_MAX = 2;

const TYPES = { csv: 'text/csv', jsonl: 'application/jsonl' } as const;

interface ExportPage {
  readonly views: readonly Readonly<Record<string, unknown>>[];
  readonly nextCursor?: string | undefined;
}

/** A list that can be exported. */
export interface ExportedList {
  /** The name of the list in replies and files. */
  readonly name: string;
  /** The members of its entries that become CSV columns. */
  readonly columns: readonly string[];
  readonly page: (cursor: string | undefined, limit: number) => Promise<ExportPage>;
}

interface ListRequest {
  readonly format?: ListFormat | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** Replies with a page of a list, or with an export of it. Throws `rate_limited` for a key with too many exports at once. */
export type ReplyWithList = (
  call: Pick<RouteCall, 'caller' | 'header' | 'signal'>,
  request: ListRequest,
  list: ExportedList,
) => Promise<Reply>;

/** Counts another page of an export against the caller's budget. Throws `rate_limited` and `read_quota`. */
export type TakePage = (caller: Caller) => Promise<void>;

/** Makes the replies of lists. It counts the exports under way. */
export function createListReplies(takePage: TakePage): ReplyWithList {
  const underWay = new Map<string, number>();

  function begin(caller: Caller): () => void {
    const who = JSON.stringify(
      caller.kind === 'service' ? [caller.tenant, caller.keyId] : [caller.tenant, '', caller.userId],
    );
    const others = underWay.get(who) ?? 0;
    if (others >= EXPORTS_MAX)
      throw new ParleyError(
        'rate_limited',
        `Only ${EXPORTS_MAX} exports run at a time; wait for one to end.`,
        {
          retryAfterSeconds: 10,
        },
      );
    underWay.set(who, others + 1);
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      const left = (underWay.get(who) ?? 1) - 1;
      if (left > 0) underWay.set(who, left);
      else underWay.delete(who);
    };
  }

  return async (call, { format = formatOf(call.header('accept')), cursor, limit }, list) => {
    if (format === 'json') {
      const { views, nextCursor } = await list.page(cursor, limit);
      const next = nextCursor === undefined ? {} : { nextCursor };
      return { type: 'json', status: 200, body: { [list.name]: views, ...next } };
    }
    const end = begin(call.caller);
    const { caller, signal } = call;
    try {
      // The first page is read before the head of the reply is sent, so that an invalid cursor can still be refused.
      const first = await list.page(cursor, PAGE_MAX);
      const pieces = new ExportPieces({ list, format, first, take: () => takePage(caller), end });
      // A client that has left may never be sent the reply.
      whenAborted(signal, () => void pieces.return());
      return {
        type: 'pieces',
        isCounted: true,
        pieces,
        headers: {
          'content-type': `${TYPES[format]}; charset=utf-8`,
          'content-disposition': `attachment; filename="${list.name}.${format}"`,
          'cache-control': 'no-store',
          'x-content-type-options': 'nosniff',
        },
      };
    } catch (error) {
      end();
      throw error;
    }
  };
}

/** The format that `Accept` names; JSON for a browser and for a client that accepts anything. */
function formatOf(accept = ''): ListFormat {
  if (accept.includes('*/*') || acceptsType(accept, 'application/json')) return 'json';
  if (acceptsType(accept, TYPES.csv)) return 'csv';
  return acceptsType(accept, TYPES.jsonl) ? 'jsonl' : 'json';
}

/** An export that is under way. */
interface BegunExport {
  readonly list: ExportedList;
  readonly format: 'csv' | 'jsonl';
  readonly first: ExportPage;
  /** Counts one more page. */
  readonly take: () => Promise<void>;
  readonly end: () => void;
}

/** The text of an export. It returns `cut` if it was ended before it was complete. */
type ExportText = AsyncGenerator<string, 'cut' | undefined>;

/** The pieces of an export. Ending them always reports `cut`, even if nobody has begun to read. */
class ExportPieces implements AsyncIterator<string, 'cut' | undefined> {
  readonly #ending = new AbortController();
  readonly #pieces: ExportText;
  readonly #end: () => void;

  constructor(begun: BegunExport) {
    this.#pieces = piecesOf(begun, this.#ending.signal);
    this.#end = begun.end;
  }

  async next(): Promise<IteratorResult<string, 'cut' | undefined>> {
    // An ended generator would report a regular end.
    return this.#ending.signal.aborted ? { done: true, value: 'cut' } : this.#pieces.next();
  }

  async return(): Promise<IteratorResult<string, 'cut' | undefined>> {
    this.#ending.abort();
    try {
      // A page that is being read is read completely, and the export counts as under way until then.
      return await this.#pieces.return('cut');
    } finally {
      this.#end();
    }
  }
}

/** Reads page by page: each one when the previous one has been sent and the caller's budget admits it. */
async function* piecesOf(
  { list: { columns, page }, format, first, take }: BegunExport,
  signal: AbortSignal,
): ExportText {
  const isCsv = format === 'csv';
  if (isCsv) yield csvRecord(columns);
  let { views, nextCursor } = first;
  let rows = 0;
  for (let pages = 1; ; pages += 1) {
    rows += views.length;
    const lines = views.map((view) =>
      isCsv ? csvRecord(columns.map((column) => view[column])) : `${JSON.stringify(view)}\n`,
    );
    if (lines.length > 0) yield lines.join('');
    if (nextCursor === undefined) return undefined;
    if (rows >= EXPORT_ROWS_MAX || pages >= PAGES_MAX) break;
    // If no row matches, nothing is sent, so a disconnected reader would otherwise not be noticed.
    if (!(await isAdmitted(take, signal))) return 'cut';
    ({ views, nextCursor } = await page(nextCursor, Math.min(PAGE_MAX, EXPORT_ROWS_MAX - rows)));
  }
  yield isCsv ? csvRecord(['nextCursor', nextCursor]) : `${JSON.stringify({ nextCursor })}\n`;
  return undefined;
}

/** Resolves when the budget admits another page; with false if the export was ended. */
async function isAdmitted(take: () => Promise<void>, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    try {
      await take();
      return !signal.aborted;
    } catch (error) {
      if (!isParleyError(error) || error.retryAfterSeconds === undefined) throw error;
      const pauseMs = error.retryAfterSeconds * 1_000;
      await sleep(pauseMs, undefined, { ref: false, signal }).catch(() => undefined);
    }
  }
  return false;
}
