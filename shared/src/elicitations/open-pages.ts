import { OPEN_STATUSES } from '../domain/elicitations/status.ts';
import type { ElicitationPage, PageRequest } from '../ports/elicitations/elicitations.ts';

const PAGE = 200;

/** All pages of an owner's open elicitations, newest first. The backend bounds the bytes of a page, too. */
export async function* openPages(
  readPage: (request: PageRequest) => Promise<ElicitationPage>,
  of: Pick<PageRequest, 'owner' | 'conversationId'>,
): AsyncGenerator<ElicitationPage> {
  let cursor: string | undefined;
  do {
    const request = { ...of, statuses: OPEN_STATUSES, limit: PAGE };
    const page = await readPage(cursor === undefined ? request : { ...request, cursor });
    cursor = page.nextCursor;
    yield page;
  } while (cursor !== undefined);
}
