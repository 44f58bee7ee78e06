import type { Approval } from '../domain/approvals/approval.ts';
import type { Elicitation } from '../domain/elicitations/elicitation.ts';
import type { FamilyTypes, RowOf } from '../domain/family.ts';
import type { Owner } from '../domain/ids.ts';
import { firstNoticeAt } from '../domain/notify.ts';
import type { OwnerRecords } from '../ports/owner-records.ts';

/** When channels notify people of open records that they have not seen. Every call throws `unavailable`. */
export interface Notices {
  /** Notes that a client of its owner was sent a record. The note stays for as long as the record may be open. */
  seen(owner: Owner, record: Elicitation | Approval): Promise<void>;
  /**
   * In how many ms the channel of a record may first notify its owner; 0 when it is due, undefined when it never is. `now`
   * is the Redis clock, read together with the row. For every family.
   */
  dueInMs(row: RowOf<FamilyTypes>, now: number): Promise<number | undefined>;
}

/** What people have seen, as records of theirs. */
export function createNotices(records: Pick<OwnerRecords, 'putIfAbsent' | 'read'>): Notices {
  return {
    async seen({ tenant, userId }, record) {
      const id = 'approvalId' in record ? record.approvalId : record.elicitationId;
      const restMs = Date.parse(record.expiresAt) - Date.parse(record.serverTime);
      if (restMs > 0) await records.putIfAbsent({ tenant, userId }, nameOf(id), '1', restMs);
    },
    async dueInMs({ id, definition, status, createdAt, settledAt }, now) {
      const { notify, tenant, userId } = definition;
      if (notify === undefined || settledAt !== undefined) return undefined;
      // Of an open record, every later status is a step of its owner.
      const isSeen =
        status !== 'pending' || (await records.read({ tenant, userId }, nameOf(id))) !== undefined;
      const at = firstNoticeAt(notify, { openedAt: createdAt, now, isSeen });
      return at === undefined ? undefined : Math.max(0, at - now);
    },
  };
}

function nameOf(id: string): string {
  return `seen ${id}`;
}
