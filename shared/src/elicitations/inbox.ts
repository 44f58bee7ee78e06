import type { Approval } from '@parley/core/domain/approvals/approval';
import type { ApprovalEventName } from '@parley/core/domain/approvals/events';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import type { ElicitationEventName } from '@parley/core/domain/events';
import type { Owner } from '@parley/core/domain/ids';
import { SleeperReads } from '../async/retry-while-unavailable.ts';
import { WakeSignal } from '../async/wake-signal.ts';
import { APPROVALS } from '../domain/approvals/family.ts';
import { ELICITATIONS } from '../domain/elicitations/family.ts';
import type { StoredRecord, StoredRecords } from '../ports/elicitations/elicitations.ts';
import { endedByWake } from '../records/ended.ts';
import type { FamiliesDeps } from '../records/family-deps.ts';
import { openPages } from './open-pages.ts';

/** One item for a reader of an inbox. */
export type InboxItem =
  /** A part of a snapshot, the first one numbered 0. The parts of one snapshot follow each other. */
  | {
      readonly type: 'snapshot';
      readonly part: number;
      /** True when another part follows. */
      readonly more: boolean;
      readonly elicitations: readonly Elicitation[];
      readonly approvals: readonly Approval[];
    }
  | InboxChange;

export type InboxChange =
  | {
      readonly type: 'change';
      readonly event: ElicitationEventName;
      readonly elicitation: Elicitation;
    }
  | {
      readonly type: 'approval-change';
      readonly event: ApprovalEventName;
      readonly approval: Approval;
    };

export interface InboxInput {
  readonly owner: Owner;
  readonly signal?: AbortSignal;
}

/** The records that a reader knows as open: the last revision that it got, by id. */
type KnownRevisions = Map<string, number>;

interface InboxReading {
  readonly records: readonly StoredRecord[];
  readonly now: number;
}

// Rows that are read by their ids at once.
const ROWS_AT_ONCE = 20;

/**
 * Follows the open records of one person: first a snapshot, newest first, then every change, on any pod. A new
 * snapshot follows when the store has lost a record that the reader knows as open. A page is read when the reader
 * has taken the one before, so that a slow reader holds one page in memory.
 */
export async function* watchInbox(
  deps: FamiliesDeps,
  { owner, signal }: InboxInput,
): AsyncGenerator<InboxItem, void> {
  const { recheckMs } = deps.settings;
  const wakeSignal = new WakeSignal(signal);
  const touched = new Set<string>();
  let stale = false;
  const subscription = deps.inboxWakes.subscribe({ tenant: owner.tenant, userId: owner.userId }, (signal) => {
    if (signal.type === 'event') {
      endedByWake(deps, signal.event);
      touched.add('approvalId' in signal.event ? signal.event.approvalId : signal.event.elicitationId);
    } else stale = true;
    wakeSignal.notify();
  });
  const reads = new SleeperReads();

  async function sleep(): Promise<'notified' | 'time'> {
    await wakeSignal.sleep(performance.now() + reads.readerPauseMs(recheckMs));
    const reason = wakeSignal.woken();
    if (reason === 'notified') reads.notified();
    else reads.silent();
    return reason;
  }

  /** Reads again and again until Redis is available. */
  async function read<T>(run: () => Promise<T>): Promise<T> {
    for (;;) {
      const result = await reads.read(run);
      if (result !== undefined) return result;
      await sleep();
    }
  }

  const inbox = createInboxReader(deps.records, owner, read);
  let isIntact = false;
  try {
    for (;;) {
      const ids = [...touched];
      const items: AsyncGenerator<InboxItem, boolean> = !isIntact
        ? inbox.snapshot()
        : stale
          ? inbox.recheck()
          : inbox.readChanged(ids);
      touched.clear();
      stale = false;
      isIntact = yield* items;
      // A resync that comes during the sleep has set `stale`.
      if (isIntact && !stale && touched.size === 0 && (await sleep()) === 'time') stale = true;
    }
  } finally {
    subscription.unsubscribe();
    wakeSignal.close();
  }
}

/** What a reader of an inbox gets. Each method returns false when the store has lost what the reader knows as open. */
interface InboxReader {
  /** All open records, page by page. */
  snapshot(): AsyncGenerator<InboxItem, boolean>;
  /** The changes of these records. */
  readChanged(ids: Iterable<string>): AsyncGenerator<InboxItem, boolean>;
  /** The changes of all records that are open, or that the reader knows as open. */
  recheck(): AsyncGenerator<InboxItem, boolean>;
}

function createInboxReader(
  stored: StoredRecords,
  owner: Owner,
  read: <T>(run: () => Promise<T>) => Promise<T>,
): InboxReader {
  const known: KnownRevisions = new Map();

  const pages = () => openPages((request) => read(() => stored.openPage(request)), { owner });

  async function* readChanged(ids: Iterable<string>): AsyncGenerator<InboxItem, boolean> {
    const rest = [...ids];
    while (rest.length > 0) {
      const batch = rest.splice(0, ROWS_AT_ONCE);
      const { records, now } = await read(() => stored.readMany(batch));
      yield* changes(known, { records: records.filter((record) => record !== undefined), now });
      if (batch.some((id, at) => records[at] === undefined && known.has(id))) return false;
    }
    return true;
  }

  return {
    async *snapshot() {
      known.clear();
      let part = 0;
      for await (const { records, now, nextCursor } of pages()) {
        for (const { row } of records) known.set(row.id, row.revision);
        const parts = { type: 'snapshot', part, more: nextCursor !== undefined } as const;
        const shown = { now, content: false };
        yield {
          ...parts,
          elicitations: records.flatMap((record) =>
            record.family === 'elicitation' ? [ELICITATIONS.toWire(record.row, shown)] : [],
          ),
          approvals: records.flatMap((record) =>
            record.family === 'approval' ? [APPROVALS.toWire(record.row, shown)] : [],
          ),
        };
        part += 1;
      }
      return true;
    },
    readChanged,
    async *recheck() {
      const unseen = new Set(known.keys());
      for await (const page of pages()) {
        for (const { row } of page.records) unseen.delete(row.id);
        yield* changes(known, page);
      }
      return yield* readChanged(unseen);
    },
  };
}

/**
 * Yields each row that differs from what the reader got, the oldest of a page first, and updates `known`. A revision
 * below the known one differs, too: Redis may have lost the last commits, and the end of a question may have a revision
 * that was sent before. A terminal row is left out only where the reader does not know the record as open.
 */
function* changes(known: KnownRevisions, { records, now }: InboxReading): Generator<InboxItem> {
  for (const record of [...records].sort((a, b) => a.row.createdAt - b.row.createdAt)) {
    const { row } = record;
    const sent = known.get(row.id);
    if (hasEnded(record)) {
      if (!known.delete(row.id)) continue;
    } else {
      if (sent === row.revision) continue;
      known.set(row.id, row.revision);
    }
    yield changeOf(record, sent, now);
  }
}

function hasEnded(record: StoredRecord): boolean {
  return record.family === 'approval'
    ? APPROVALS.isTerminal(record.row.status)
    : ELICITATIONS.isTerminal(record.row.status);
}

function changeOf(record: StoredRecord, sent: number | undefined, now: number): InboxChange {
  const shown = { now, content: false };
  if (record.family === 'approval') {
    const open = sent === undefined ? 'approval-request' : 'approval-updated';
    const event = hasEnded(record) ? 'approval-resolved' : open;
    return { type: 'approval-change', event, approval: APPROVALS.toWire(record.row, shown) };
  }
  const open = sent === undefined ? 'elicitation-request' : 'elicitation-updated';
  const event = hasEnded(record) ? 'elicitation-resolved' : open;
  return { type: 'change', event, elicitation: ELICITATIONS.toWire(record.row, shown) };
}
