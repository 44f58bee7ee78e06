/**
 * The port of elicitations in one process, built from the shared rows of all families. The atomic steps themselves are in
 * `rows.ts`.
 */

import type { FamilyTypes, RowOf } from '@parley/core/domain/family';
import type { Owner } from '@parley/core/domain/ids';
import { APPROVALS } from '../../domain/approvals/family.ts';
import { ELICITATIONS } from '../../domain/elicitations/family.ts';
import type { OutboxTask } from '../../ports/delivery/outbox.ts';
import {
  type Approvals,
  type Elicitations,
  type StoredRecords,
  storedRecordOf,
} from '../../ports/elicitations/elicitations.ts';
import type { StoredPart } from '../../ports/erasure.ts';
import { ownerKey } from '../owner-key.ts';
import { pageOf } from './page.ts';
import { askedName, createMemoryRows, type MemoryRowsDeps } from './rows.ts';

/** The elicitations port, and what the runs of the same process need in addition. */
export interface MemoryElicitations extends Elicitations {
  readonly approvals: Approvals;
  readonly records: StoredRecords;
  isOpen(id: string): boolean;
  /** The rows of every owner. */
  all(): readonly RowOf<FamilyTypes>[];
  /** Makes the commit that ends the row note this task. Replaces an earlier task of the same kind and subject. */
  onEnd(id: string, task: OutboxTask): void;
  /** The owner's records, and the idempotency keys under which they were asked. */
  storedFor(owner: Owner): Pick<StoredPart, 'elicitationIds' | 'idempotencyKeys'>;
  erase(owner: Owner, part: Pick<StoredPart, 'elicitationIds' | 'idempotencyKeys'>): void;
}

/** The rows of elicitations and approvals in one process. */
export function createMemoryElicitations(deps: MemoryRowsDeps): MemoryElicitations {
  const rows = createMemoryRows(deps);
  const { deadlines, askedKeys } = rows;
  const { settings } = deps;

  return {
    ...rows.recordsOf(ELICITATIONS),
    approvals: rows.recordsOf(APPROVALS),

    records: {
      async readMany(ids) {
        const found = ids.map((id) => rows.find(id)?.row);
        return {
          records: found.map((row) => (row === undefined ? undefined : storedRecordOf(row))),
          now: Date.now(),
        };
      },
      async openPage(request) {
        const open = rows.ownedBy(request.owner).filter(({ isEnded }) => !isEnded);
        const { rows: page, ...rest } = pageOf(
          open.map(({ row }) => row),
          request,
          settings.pageBytesMax,
        );
        return { ...rest, records: page.map(storedRecordOf) };
      },
    },

    async due(bucket, limit, skip = 0, overdueMs = 0) {
      return deadlines.due(bucket, Date.now() - overdueMs).slice(skip, skip + limit);
    },

    occupied() {
      return [Promise.resolve(deadlines.occupied())];
    },

    async arm(bucket, skip = 0) {
      return deadlines.arm(bucket, skip, Date.now());
    },

    // With one process, no other needs to be told to leave expired records to it.
    noteExpiring: async () => undefined,
    isExpiring: async () => false,

    async keep(id, forMs) {
      const held = rows.find(id);
      if (held === undefined || !held.isEnded) return;
      held.until = Date.now() + forMs;
      rows.expireAfter(id, forMs);
    },

    async forget(bucket, id) {
      deadlines.remove(bucket, id);
    },

    all: () =>
      rows
        .all()
        .map(({ row }) => rows.find(row.id)?.row)
        .filter((row) => row !== undefined),

    isOpen(id) {
      return rows.find(id)?.isEnded === false;
    },

    onEnd(id, task) {
      const held = rows.find(id);
      if (held === undefined) return;
      const others = held.onEnd.filter(({ kind, subject }) => kind !== task.kind || subject !== task.subject);
      rows.replace({ ...held, onEnd: [...others, task] });
    },

    storedFor(owner) {
      const keys = askedKeys.values().filter((asked) => asked.owner === ownerKey(owner));
      return {
        elicitationIds: rows
          .all()
          .filter(({ row }) => ownerKey(row.definition) === ownerKey(owner))
          .map(({ row }) => row.id),
        idempotencyKeys: keys.map(({ key, elicitationId }) => ({ key, elicitationId })),
      };
    },

    erase(owner, { elicitationIds, idempotencyKeys }) {
      for (const id of elicitationIds) {
        const held = rows.find(id);
        if (held !== undefined) rows.remove(held.row);
      }
      for (const { key } of idempotencyKeys) askedKeys.delete(askedName(owner, key));
    },
  };
}
