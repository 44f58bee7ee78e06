import type { Elicitation } from '@parley/shared/domain/elicitations/elicitation';
import type { Status } from '@parley/shared/domain/elicitations/status';
import { type ElicitationPage, pageIn } from './reply.ts';
import type { Transport } from './transport.ts';

export interface ListFilter {
  /** Keep only these. */
  readonly status?: Status | readonly Status[];
  /** Whose; required for a service. */
  readonly userId?: string;
  readonly conversationId?: string;
  /** Of one page, 1 to 100. @default 50 */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

/** Elicitations, newest first: iterate over all of them, page after page, or take one page. */
export interface ElicitationList extends AsyncIterable<Elicitation> {
  /** The first page, or the one that `nextCursor` of another led to. */
  page(cursor?: string): Promise<ElicitationPage>;
}

export function createList(transport: Transport, filter: ListFilter): ElicitationList {
  const { status, userId, conversationId, limit, signal } = filter;
  const page = async (cursor?: string) => {
    const query = {
      status: status === undefined ? undefined : [status].flat().join(','),
      userId,
      conversationId,
      limit: limit === undefined ? undefined : String(limit),
      cursor,
    };
    return pageIn(await transport.request({ method: 'GET', path: '/v1/elicitations', query, signal }));
  };
  return {
    page,
    async *[Symbol.asyncIterator]() {
      let cursor: string | undefined;
      do {
        const { elicitations, nextCursor } = await page(cursor);
        yield* elicitations;
        cursor = nextCursor;
      } while (cursor !== undefined);
    },
  };
}
