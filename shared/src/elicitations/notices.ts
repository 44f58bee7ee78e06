import type { Approval } from '@parley/core/domain/approvals/approval';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import type { FamilyTypes, RowOf } from '@parley/core/domain/family';
import type { Owner } from '@parley/core/domain/ids';
import { firstNoticeAt, seenUntil } from '@parley/core/domain/notify';
import type { OwnerRecords } from '../ports/owner-records.ts';

/** When channels notify people of open records that they have not seen. Every method throws `unavailable`. */
export interface Notices {
  /** Notes that an open record was sent to a client of its owner. The note is kept for half of the record's time. */
  seen(owner: Owner, record: Elicitation | Approval): Promise<void>;
  /**
   * Milliseconds until the channel of a record may first notify its owner: 0 when the notice is due, undefined when no channel
   * notifies. `now` is the Redis clock, read together with the row. For every family.
   */
  dueInMs(row: RowOf<FamilyTypes>, now: number): Promise<number | undefined>;
}

/** Stores what people have seen as records of their owners. */
export function createNotices(records: Pick<OwnerRecords, 'putIfAbsent' | 'read'>): Notices {
  return {
    async seen({ tenant, userId }, record) {
      const id = 'approvalId' in record ? record.approvalId : record.elicitationId;
      const [openedAt = 0, expiresAt = 0, now = 0] = [
        record.createdAt,
        record.expiresAt,
        record.serverTime,
      ].map((time) => Date.parse(time));
      const keptMs = seenUntil({ openedAt, expiresAt }) - now;
      if (keptMs > 0) await records.putIfAbsent({ tenant, userId }, nameOf(id), '1', keptMs);
    },
    async dueInMs({ id, definition, status, createdAt: openedAt, expiresAt, settledAt }, now) {
      const { notify, tenant, userId } = definition;
      if (notify === undefined || settledAt !== undefined) return undefined;
      // An open record leaves `pending` only by an act of its owner.
      const isSeen =
        status !== 'pending' || (await records.read({ tenant, userId }, nameOf(id))) !== undefined;
      return Math.max(0, firstNoticeAt(notify, { openedAt, expiresAt, now, isSeen }) - now);
    },
  };
}

/** Calls `note` once for each record. A failed call is not repeated. */
export function oncePerRecord(
  note: (record: Elicitation | Approval) => Promise<void>,
): (record: Elicitation | Approval) => Promise<void> {
  const noted = new Set<string>();
  return async (record) => {
    const id = 'approvalId' in record ? record.approvalId : record.elicitationId;
    if (noted.has(id)) return;
    noted.add(id);
    await note(record);
  };
}

function nameOf(id: string): string {
  return `seen ${id}`;
}
