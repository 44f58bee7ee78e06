import type { FamilyTypes } from '@parley/core/domain/family';
import type { ApprovalTypes } from '../domain/approvals/types.ts';
import type { ElicitationTypes } from '../domain/elicitations/types.ts';
import type {
  Approvals,
  Elicitations,
  Records,
  StoredRecord,
  StoredRecords,
} from '../ports/elicitations/elicitations.ts';
import type { KnownRows } from './known-rows.ts';

/** The stores from which a pod reads the rows that it shows. */
export interface ShownStores {
  readonly elicitations: Elicitations;
  readonly approvals: Approvals;
  readonly records: StoredRecords;
}

interface KnownByFamily {
  readonly questions: KnownRows<ElicitationTypes>;
  readonly approvals: KnownRows<ApprovalTypes>;
}

/**
 * The stores through which a pod reads what it shows: streams, inboxes, lists, pages, single questions. They cache the rows,
 * like those that the pod wrote, because an answer usually comes to the pod that showed the question.
 */
export function storesOfShown(
  { elicitations, approvals, records }: ShownStores,
  known: KnownByFamily,
): ShownStores {
  function note(record: StoredRecord | undefined, now: number): void {
    if (record?.family === 'elicitation') known.questions.note({ row: record.row, now });
    if (record?.family === 'approval') known.approvals.note({ row: record.row, now });
  }

  return {
    elicitations: { ...elicitations, ...shownReads(elicitations, known.questions) },
    approvals: { ...approvals, ...shownReads(approvals, known.approvals) },
    records: {
      async readMany(ids) {
        const read = await records.readMany(ids);
        for (const record of read.records) note(record, read.now);
        return read;
      },
      async openPage(request) {
        const page = await records.openPage(request);
        for (const record of page.records) note(record, page.now);
        return page;
      },
    },
  };
}

function shownReads<T extends FamilyTypes>(
  { read, page }: Pick<Records<T>, 'read' | 'page'>,
  known: KnownRows<T>,
): Pick<Records<T>, 'read' | 'page'> {
  return {
    async read(id) {
      const { row, now } = await read(id);
      if (row !== undefined) known.note({ row, now });
      return { row, now };
    },
    async page(request) {
      const found = await page(request);
      for (const row of found.rows) known.note({ row, now: found.now });
      return found;
    },
  };
}
