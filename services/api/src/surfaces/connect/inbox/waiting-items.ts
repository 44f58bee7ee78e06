import { titleOfServer, titleOfTool } from '@parley/shared/domain/approvals/tool-title';
import type { Owner } from '@parley/shared/domain/ids';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { StoredRecord } from '@parley/shared/ports/elicitations/elicitations';
import { askerOfQuestion } from '../asker.ts';
import { answerPath, connectPath, isOnOurPage } from '../own-pages.ts';
import type { ShownWaiting } from '../pages/inbox/view.ts';

/** Records on one page. A person with more sees older ones when these are done. */
const RECORDS_MAX = 300;
const PAGE_RECORDS = 100;

interface WaitingDeps {
  readonly engine: Pick<Engine, 'openRecords'>;
  readonly publicUrl: string;
}

/** What waits for a person. */
interface WaitingList {
  readonly waiting: readonly ShownWaiting[];
  /** There are older records than the page shows. */
  readonly hasOlder?: true;
}

/** Reads what waits for a person: what ends first comes first. */
export async function readWaiting({ engine, publicUrl }: WaitingDeps, owner: Owner): Promise<WaitingList> {
  const items: ShownWaiting[] = [];
  let read = 0;
  let cursor: string | undefined;
  do {
    const page = await engine.openRecords({
      owner,
      limit: Math.min(PAGE_RECORDS, RECORDS_MAX - read),
      ...(cursor !== undefined && { cursor }),
    });
    read += page.records.length;
    // One that has passed its deadline waits for nobody, although nobody has noticed yet.
    for (const record of page.records)
      if (page.now < record.row.expiresAt) items.push(itemOf(record, page.now, publicUrl));
    cursor = page.nextCursor;
  } while (cursor !== undefined && read < RECORDS_MAX);
  return {
    waiting: items.sort((one, other) => one.leftMs - other.leftMs),
    ...(cursor !== undefined && { hasOlder: true }),
  };
}

function itemOf({ family, row }: StoredRecord, now: number, publicUrl: string): ShownWaiting {
  const leftMs = row.expiresAt - now;
  if (family === 'approval') {
    const { agent, tool } = row.definition;
    const named = { agent, tool: titleOfTool(tool), server: titleOfServer(tool) };
    return { about: 'approval', ...named, leftMs, path: answerPath(row.id) };
  }
  const { title, message } = row.definition;
  return {
    about: 'question',
    ...askerOfQuestion(row),
    ...(title !== undefined && { title }),
    message,
    leftMs,
    path: isOnOurPage(publicUrl, row) ? connectPath(row.id) : answerPath(row.id),
  };
}
