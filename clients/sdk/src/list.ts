import { type ElicitationPage, listElicitations, type Transport } from '@parley/core';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import type { Status } from '@parley/core/domain/elicitations/status';

export interface ListFilter {
  /** Lists only elicitations with one of these statuses. */
  readonly status?: Status | readonly Status[];
  /** The owner; required for a service. */
  readonly userId?: string;
  readonly conversationId?: string;
  /** The number of elicitations in a page, 1 to 100. @default 50 */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

/** Elicitations, newest first. Iterate over all of them, or read one page. */
export interface ElicitationList extends AsyncIterable<Elicitation> {
  /** Reads the first page, or the page of a `nextCursor`. */
  page(cursor?: string): Promise<ElicitationPage>;
}

export function createList(transport: Transport, { signal, ...filter }: ListFilter): ElicitationList {
  const page = (cursor?: string) => listElicitations(transport, { ...filter, cursor }, { signal });
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
