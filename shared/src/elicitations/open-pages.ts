import type { PageRequest, StoredPage, StoredRecords } from '../ports/elicitations/elicitations.ts';

const PAGE = 200;

/** All pages of an owner's open records, newest first. The back end also limits the bytes of a page. */
export async function* openPages(
  readPage: StoredRecords['openPage'],
  of: Pick<PageRequest, 'owner' | 'conversationId'>,
): AsyncGenerator<StoredPage> {
  let cursor: string | undefined;
  do {
    const request = { ...of, limit: PAGE };
    const page = await readPage(cursor === undefined ? request : { ...request, cursor });
    cursor = page.nextCursor;
    yield page;
  } while (cursor !== undefined);
}
