/**
 * The live list of one person's open records, for inbox streams. It decides what a reader gets next; the row rules are in
 * `domain`, and the wire format of the stream is in the surfaces.
 */

import type { Approval } from '@parley/core/domain/approvals/approval';
import type { ApprovalEventName } from '@parley/core/domain/approvals/events';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import type { ElicitationEventName } from '@parley/core/domain/events';
import type { Owner } from '@parley/core/domain/ids';
import { SleeperReads } from '../async/retry-while-unavailable.ts';
import { WakeSignal } from '../async/wake-signal.ts';
import { APPROVALS } from '../domain/approvals/family.ts';
import { ELICITATIONS } from '../domain/elicitations/family.ts';
import type { PageRequest, StoredPage, StoredRecord } from '../ports/elicitations/elicitations.ts';
import type { Subscription } from '../ports/elicitations/event-bus.ts';
import { endedByWake } from '../records/ended.ts';
import type { FamiliesDeps } from '../records/family-deps.ts';
import { openPages } from './open-pages.ts';

/** An item of an inbox stream. */
export type InboxItem =
  /** A part of a snapshot. The parts are numbered from 0 and follow each other directly. */
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

/** The records that a reader believes to be open: the last revision that the reader got, by id. */
type KnownRevisions = Map<string, number>;

interface InboxReading {
  readonly records: readonly StoredRecord[];
  readonly now: number;
}

// The number of rows that one call reads by their ids.
const ROWS_AT_ONCE = 20;

/**
 * Follows one person's open records: first a snapshot, newest first, and then every change, on any pod. When the store has lost
 * a record that the reader believes to be open, a new snapshot follows. A page is read only after the reader took the previous
 * one, so a slow reader holds one page in memory.
 */
export async function* watchInbox(deps: FamiliesDeps, input: InboxInput): AsyncGenerator<InboxItem, void> {
  const reader = new InboxReader(deps, input);
  try {
    for (;;) {
      yield* reader.read();
      if (!reader.mayRest) continue;
      await reader.sleep();
      if (reader.woken() === 'time') reader.recheckNext();
    }
  } finally {
    reader.close();
  }
}

/**
 * The state of one inbox reader: what it got, and what it has not read yet. This is a class because a pod holds one for each
 * stream.
 */
class InboxReader {
  readonly #deps: FamiliesDeps;
  readonly #owner: Owner;
  readonly #wakeSignal: WakeSignal;
  readonly #reads = new SleeperReads();
  readonly #known: KnownRevisions = new Map();
  readonly #subscription: Subscription;
  /** The ids of changed records that have not been read. */
  readonly #touched = new Set<string>();
  /** True when any record may have changed, after missed wakes. */
  #stale = false;
  /**
   * False until the reader got a complete snapshot, and again after the store lost a record that the reader believes to be
   * open.
   */
  #isIntact = false;

  constructor(deps: FamiliesDeps, { owner, signal }: InboxInput) {
    this.#deps = deps;
    this.#owner = owner;
    this.#wakeSignal = new WakeSignal(signal);
    this.#subscription = deps.inboxWakes.subscribe({ tenant: owner.tenant, userId: owner.userId }, (wake) => {
      if (wake.type === 'event') {
        endedByWake(deps, wake.event);
        this.#touched.add('approvalId' in wake.event ? wake.event.approvalId : wake.event.elicitationId);
      } else this.#stale = true;
      this.#wakeSignal.notify();
    });
  }

  /** True when the reader has nothing to read now. A later resync makes it stale again. */
  get mayRest(): boolean {
    return this.#isIntact && !this.#stale && this.#touched.size === 0;
  }

  /** Reads whichever is due: a snapshot, a check of all known records, or the changed ones. */
  async *read(): AsyncGenerator<InboxItem, void> {
    const items = !this.#isIntact
      ? this.#snapshot()
      : this.#stale
        ? this.#recheck()
        : this.#readChanged([...this.#touched]);
    this.#touched.clear();
    this.#stale = false;
    this.#isIntact = yield* items;
  }

  sleep(): Promise<void> {
    return this.#wakeSignal.sleep(
      performance.now() + this.#reads.readerPauseMs(this.#deps.settings.recheckMs),
    );
  }

  /** Ends a sleep and returns why it ended. Throws the signal's reason when aborted. */
  woken(): 'notified' | 'time' {
    const reason = this.#wakeSignal.woken();
    if (reason === 'notified') this.#reads.notified();
    else this.#reads.silent();
    return reason;
  }

  recheckNext(): void {
    this.#stale = true;
  }

  close(): void {
    this.#subscription.unsubscribe();
    this.#wakeSignal.close();
  }

  /** Repeats a read until Redis is available. */
  async #untilRead<T>(run: () => Promise<T>): Promise<T> {
    for (;;) {
      const result = await this.#reads.read(run);
      if (result !== undefined) return result;
      await this.sleep();
      this.woken();
    }
  }

  #pages(): AsyncGenerator<StoredPage> {
    const readPage = (request: PageRequest) => this.#untilRead(() => this.#deps.records.openPage(request));
    return openPages(readPage, { owner: this.#owner });
  }

  /** All open records, page by page. */
  async *#snapshot(): AsyncGenerator<InboxItem, true> {
    this.#known.clear();
    let part = 0;
    for await (const { records, now, nextCursor } of this.#pages()) {
      for (const { row } of records) this.#known.set(row.id, row.revision);
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
  }

  /** The changes among all records that are open, or that the reader believes to be open. */
  async *#recheck(): AsyncGenerator<InboxItem, boolean> {
    const unseen = new Set(this.#known.keys());
    for await (const page of this.#pages()) {
      for (const { row } of page.records) unseen.delete(row.id);
      yield* changes(this.#known, page);
    }
    return yield* this.#readChanged(unseen);
  }

  /** The changes of these records. Returns false when the store has lost one that the reader believes to be open. */
  async *#readChanged(ids: Iterable<string>): AsyncGenerator<InboxItem, boolean> {
    const rest = [...ids];
    while (rest.length > 0) {
      const batch = rest.splice(0, ROWS_AT_ONCE);
      const { records, now } = await this.#untilRead(() => this.#deps.records.readMany(batch));
      yield* changes(this.#known, { records: records.filter((record) => record !== undefined), now });
      if (batch.some((id, at) => records[at] === undefined && this.#known.has(id))) return false;
    }
    return true;
  }
}

/**
 * Yields each row that differs from what the reader got, oldest of a page first, and updates `known`. A lower revision is a
 * difference too: Redis may have lost the last commits, and then even an end may have a revision that was sent before. A
 * terminal row is omitted only if the reader does not know the record as open.
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
